// Panels of the run; each function creates the contents of one.

// Counts the channels of the map: those in ranges, and the sources whose channels from some number on are all mapped.
function channelsOfMap(count) {
  const words = (n, what) => `${whole(n)} ${what}${n === 1 ? '' : 's'}`;
  const parts = [
    count.channels ? words(count.channels, 'channel') : '',
    count.open ? `${count.channels ? 'all others' : 'all'} of ${words(count.open, 'source')}` : '',
  ];
  return parts.filter(Boolean).join(', ') || 'none';
}

function factsOfMap(map) {
  if (!map) return [];
  return [
    ['detector map', map.file || 'none'],
    ['groups', map.groups.join(', ')],
    ['masked', channelsOfMap(map.masked)],
    ['cut by payload', channelsOfMap(map.cut)],
    ['with an offset', channelsOfMap(map.with_offset)],
  ];
}

function setupPanel(setup) {
  // false before the first data of a run
  const clock = Number.isFinite(setup.tick_ps);
  const ticks = (n) => {
    if (!clock) return '';
    return setup.numbered ? `${whole(n)} event numbers` : nanoseconds((n * setup.tick_ps) / 1000);
  };
  const versions = Object.entries(setup.versions || {}).map(([name, version]) => `${name} ${version}`);
  const known = (value, show) => (value === undefined ? '' : show(value));
  const list = facts([
    ['events', setup.definition],
    ['filters', (setup.filters || []).join(', ')],
    ...factsOfMap(setup.detector),
    ['schedule', setup.schedule],
    ['tick', setup.numbered || !clock ? '' : `${setup.tick_ps} ps`],
    ['epoch', ticks(setup.epoch_ticks)],
    ['slice', ticks(setup.epoch_ticks * setup.epochs_per_slice)],
    ['overlap', known(setup.overlap_ticks, ticks)],
    ['ranks', known(setup.ranks, String)],
    ['hosts', (setup.hosts || []).join(', ')],
    ['versions', versions.join(', ')],
    ['time of tick 0', setup.time_of_tick_0],
    ...(setup.command_lines || []).map((line, i, all) => [`command line${all.length > 1 ? ` ${i + 1}` : ''}`, line]),
  ]);
  const all = details('Full configuration', () => el('pre', {}, setup.configuration));
  return [list, setup.configuration ? all : null];
}

function flowPanel(doc, width) {
  const sources = flowItems(
    doc.sources || [],
    'sources',
    (s) => s.bytes_per_s,
    (s) => s.name,
    'B',
  );
  const builders = flowItems(
    doc.builders,
    'builders',
    (b) => b.hits_per_s,
    (b) => `builder ${b.index}`,
    'hits',
  );
  const filters = flowItems(
    doc.filters || [],
    'filters',
    (f) => f.accepted_per_s,
    (f) => `filter ${f.index}`,
    'events',
  );
  const columns = [
    { title: 'Sources', colour: 0, items: sources },
    { title: 'Builders', colour: 2, items: builders },
    { title: 'Filters', colour: 1, items: filters },
  ];
  return [
    flowPicture(
      columns.filter((column) => column.items.length),
      width,
    ),
  ];
}

function linksPanel(links, width) {
  const at = (matrix, r, i) => ((matrix || [])[r] || [])[i];
  const cells = links.columns.flatMap((name, i) => [
    { title: `${name}, rate`, number: true, of: (r) => bytesPerSecond(at(links.rate_bytes_per_s, r, i)) },
    { title: 'ring fill', number: true, of: (r) => percent(at(links.fill, r, i)) },
  ]);
  const rows = links.rows.map((_, r) => r);
  const columns = [{ title: 'from', of: (r) => links.rows[r] }, ...cells];
  const matrix = matrixPicture(links, Math.max(width, 180 + 50 * links.columns.length));
  return [
    el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Links' }, matrix),
    el('p', { class: 'note' }, 'Rows: ranks with sources. Shade: bytes/s. Bar: fill of the ring.'),
    details('Links as a table', () => table(columns, rows, 'Links')),
  ];
}

function ledgerShares(ledger, dropped) {
  const lost = Math.min(ledger.lost || 0, dropped);
  const removed = { name: 'removed on request', value: dropped - lost, colour: 3 };
  return [
    { name: 'in events', value: ledger.hits_in_events || 0, colour: 0 },
    { name: 'outside events', value: ledger.hits_outside || 0, colour: 6 },
    { name: 'rejected by a filter', value: ledger.hits_rejected || 0, colour: 4 },
    ...(removed.value ? [removed] : []),
    { name: 'lost', value: lost, colour: 1 },
  ];
}

function countTable(title, rows, caption, ...columns) {
  const number = { title: caption, number: true, of: ([, n]) => whole(n) };
  return table([{ title, of: ([name]) => name }, number, ...columns], rows, title);
}

function ledgerPanel(ledger) {
  const causes = Object.entries(ledger.dropped || {}).filter(([, n]) => n);
  const parts = ledgerShares(
    ledger,
    causes.reduce((sum, [, n]) => sum + n, 0),
  );
  const sums = parts.map((part, i) => [`${i ? '+' : '='} ${part.name}`, part.value]);
  const rows = [['hits in', ledger.hits_in], ...sums, ...causes.map(([cause, n]) => [`\u2003${cause}`, n])];
  const share = {
    title: 'share',
    number: true,
    of: ([, n]) => percent(ledger.hits_in ? n / ledger.hits_in : undefined),
  };
  const more = [
    ['slices', ledger.slices],
    ['slices that lack a source', ledger.incomplete_slices],
    ['events', ledger.events],
    ['events truncated', ledger.events_truncated],
    ['events incomplete', ledger.events_incomplete],
  ];
  const bad = ledger.balances === false;
  return [
    shareBar(parts, 'Shares of the hits'),
    legend(parts),
    countTable('account', rows, 'hits', share),
    el('p', { class: bad ? 'bad' : 'good' }, bad ? 'The account does not balance.' : 'The account balances.'),
    countTable(
      'also counted',
      more.filter(([, n]) => n !== undefined),
      'number',
    ),
  ];
}

function lossesPanel(sources) {
  const prefix = 'hits_dropped_';
  const counters = (s) => s.counters || {};
  const names = new Set(sources.flatMap((s) => Object.keys(counters(s))));
  const causes = [...names].filter((name) => name.startsWith(prefix));
  const column = (name, title) => ({ title, number: true, of: (s) => whole(counters(s)[name] || 0) });
  const columns = [
    { title: 'no.', number: true, of: (s) => String(s.index) },
    { title: 'name', kind: 'plus', of: (s) => s.name },
    ...causes.map((name) => column(name, name.slice(prefix.length).replaceAll('_', ' '))),
    column('events_lacking', 'events that lack it'),
    { title: 'dead time', number: true, of: (s) => seconds(s.dead_time_s || 0) },
  ];
  return [table(columns, sources, 'Hits dropped, by source and cause')];
}

function hasLosses(source) {
  return source.lost > 0 || source.dead_time_s > 0 || ((source.counters || {}).events_lacking || 0) > 0;
}

function timeOfBuilders(balance) {
  const rows = balance.builders.map((builder, i) => ({ builder, busy: balance.busy_s[i], idle: balance.idle_s[i] }));
  const share = (row) => (row.busy === null ? undefined : row.busy / (row.busy + row.idle));
  const columns = [
    { title: 'builder', number: true, of: (row) => String(row.builder) },
    { title: 'building', number: true, of: (row) => seconds(row.busy) },
    { title: 'idle', number: true, of: (row) => seconds(row.idle) },
    { title: 'busy', number: true, of: (row) => percent(share(row)) },
  ];
  return table(columns, rows, 'Time of the builders');
}

function balancePanel(balance, width) {
  const any = balance.hits_of_builder || balance.slices_of_builder;
  const numbers = balance.builders || any.map((_, i) => i);
  const x = [...numbers.map((n) => n - 0.5), numbers[numbers.length - 1] + 0.5];
  const bars = (key, name) => {
    const chart = {
      title: name,
      x: 'builder',
      y: name,
      textX: wholeOnly,
      series: [{ name, kind: 'bars', x, y: balance[key] || [] }],
    };
    return balance[key] ? chartOf(chart, width, 170) : null;
  };
  const notes = [
    typeof balance.efficiency === 'number' ? `Balance ${percent(balance.efficiency)}: mean over greatest number of hits` : '',
    typeof balance.busy === 'number' ? `Builders were busy for ${percent(balance.busy)} of their time` : '',
  ];
  return [
    bars('hits_of_builder', 'hits of a builder'),
    bars('slices_of_builder', 'slices of a builder'),
    ...notes.filter(Boolean).map((words) => el('p', { class: 'note' }, words)),
    balance.busy_s ? timeOfBuilders(balance) : null,
  ];
}

function filtersPanel(filters) {
  const known = (filter) => filter.accepted + filter.rejected;
  const columns = [
    { title: 'filter', number: true, of: (f) => String(f.index) },
    { title: 'rank', number: true, of: (f) => String(f.rank) },
    { title: 'accepted', number: true, of: (f) => whole(f.accepted) },
    { title: 'per s', number: true, of: (f) => short(f.accepted_per_s) },
    { title: 'rejected', number: true, of: (f) => whole(f.rejected) },
    { title: 'per s', number: true, of: (f) => short(f.rejected_per_s) },
    { title: 'accepted', number: true, of: (f) => percent(known(f) ? f.accepted / known(f) : undefined) },
  ];
  return [table(columns, filters, 'Events that filters accepted and rejected')];
}

function ranksPanel(ranks) {
  const odd = ranks.filter((rank) => rank.remark);
  return [
    ...odd.map((rank) => el('p', { class: 'bad' }, `rank ${rank.rank}: ${rank.remark}`)),
    odd.length ? null : el('p', { class: 'good' }, 'No rank is silent or known to be slow.'),
    table(
      [
        { title: 'rank', number: true, of: (r) => String(r.rank) },
        { title: 'host', kind: 'plus', of: (r) => r.host || '' },
        { title: 'roles', of: (r) => r.roles || '' },
        { title: 'silent', number: true, of: (r) => seconds(r.silent_s) },
        { title: 'memory', number: true, of: (r) => (r.rss_bytes ? `${short(r.rss_bytes)}B` : '\u2013') },
      ],
      ranks,
      'Ranks',
    ),
  ];
}

function clocksPanel(clocks) {
  const columns = [
    { title: 'rank', number: true, of: (c) => String(c.rank) },
    { title: 'offset', number: true, of: (c) => nanoseconds(c.offset_ns) },
    { title: 'precision', number: true, of: (c) => nanoseconds(c.precision_ns) },
    { title: 'rate', number: true, of: (c) => `${rounded(c.rate_ppm || 0, 3)} ppm` },
    { title: 'residual', number: true, of: (c) => nanoseconds(c.residual_ns) },
  ];
  return [table(columns, clocks, 'Clocks')];
}

function severity(entry) {
  return el('span', { class: { error: 'bad', warning: 'warn' }[entry.severity] || '' }, entry.severity);
}

function logPanel(log) {
  const columns = [
    { title: 'time (UTC)', kind: 'time', of: (l) => moment(l.time) },
    { title: 'severity', of: severity },
    { title: 'message', kind: 'words', of: (l) => l.text },
  ];
  return [table(columns, [...log].reverse(), 'Log, latest first')];
}

function commandsPanel(commands) {
  const columns = ['from', 'command'].map((title) => ({ title, of: (c) => c[title] }));
  const time = { title: 'time (UTC)', kind: 'time', of: (c) => moment(c.time) };
  return [table([time, ...columns], [...commands].reverse(), 'Commands, latest first')];
}

// The description goes below the name: there is no room for both side by side.
function counterName(counter) {
  return el('div', {}, breakable(counter.name), counter.help ? el('div', { class: 'note' }, counter.help) : null);
}

function countersPanel(counters) {
  const columns = [
    { title: 'counter', kind: 'words', of: counterName },
    {
      title: 'value',
      number: true,
      of: (c) => el('span', { class: c.trouble && c.value ? 'bad' : '' }, whole(c.value)),
    },
    { title: 'unit', kind: 'plus', of: (c) => c.unit || '' },
  ];
  return [table(columns, counters, 'Counters')];
}
