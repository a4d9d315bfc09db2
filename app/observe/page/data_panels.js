// Panels of the data; each function creates the contents of one.

// The user's choice in each panel; it survives the next document.
const chosen = new Map();

function chooser(key, label, names, redraw) {
  const select = el('select', { id: `choose-${key}` }, ...names.map((name, i) => el('option', { value: i }, name)));
  select.value = String(Math.min(chosen.get(key) || 0, names.length - 1));
  select.addEventListener('change', () => {
    chosen.set(key, Number(select.value));
    redraw();
  });
  return el('div', { class: 'choose' }, el('label', { for: `choose-${key}` }, label), select);
}

function seriesPanel(series, width) {
  const per = series.per || 's';
  const charts = [
    ['hits_per_s', 'Hits', `hits per ${per}`, 0],
    ['bytes_per_s', 'Bytes', `bytes per ${per}`, 2],
    ['events_per_s', 'Events', `events per ${per}`, 1],
  ];
  const there = charts.filter(([key]) => (series[key] || []).length);
  const column = there.length > 1 && width > 760 ? Math.floor((width - 24 * (there.length - 1)) / there.length) : width;
  const figures = there.map(([key, name, label, colour]) =>
    el(
      'div',
      {},
      chartOf(
        {
          title: `${name} over time`,
          x: series.axis,
          y: label,
          series: [{ name: label, kind: 'line', x: series.t_s, y: series[key], colour }],
        },
        column,
      ),
    ),
  );
  return [el('div', { class: 'row' }, ...figures)];
}

function latencyPanel(series, width) {
  const of = (key, name, colour) => ({ name, kind: 'line', x: series.t_s, y: series[key] || [], colour });
  return [
    chartOf(
      {
        title: 'Latency over time',
        x: series.axis,
        y: 'latency',
        logY: true,
        textY: nanoseconds,
        series: [of('latency_p50_ns', 'median', 0), of('latency_p99_ns', '99 %', 1)],
      },
      width,
    ),
  ];
}

// The curve ends where it expects less than half an entry per bin.
function fitCurve(histogram) {
  const { edges, fit } = histogram;
  if (!fit || !fit.curve) return [];
  const middles = fit.curve.map((_, i) => (edges[i] + edges[i + 1]) / 2);
  const y = fit.curve.map((n) => (n < 0.5 ? null : n));
  return [{ name: 'exponential', kind: 'line', x: middles, y, colour: 1, dashed: true }];
}

function fitNote(fit) {
  if (!fit) return null;
  const error = fit.error_per_s ? ` \u00b1 ${short(fit.error_per_s, 2)}/s` : '';
  const range = `intervals of at least ${nanoseconds(fit.from_ns)} ${fit.range || ''}`;
  const words = `Exponential fit: ${short(fit.rate_per_s, 4)}/s${error}, maximum likelihood over ${range}`;
  return el('p', { class: 'note' }, words);
}

function entriesNote(histogram, value) {
  if (!histogram.entries) return null;
  const { entries, mean } = histogram;
  const range = `from ${value(histogram.least)} to ${value(histogram.greatest)}`;
  return el('p', { class: 'note' }, `${whole(entries)} entries, mean ${value(mean)}, ${range}`);
}

// Lines at the percentiles, as high as the histogram.
function percentileMarks(histogram) {
  if (!histogram.percentiles) return [];
  const { percent, ns } = histogram.percentiles;
  const top = greatest(histogram.counts);
  return percent.map((p, i) => ({ name: `${p} %`, kind: 'stems', x: [ns[i]], y: [top], colour: 1 + i }));
}

function percentilesNote(percentiles) {
  if (!percentiles) return null;
  const words = percentiles.percent.map((p, i) => `${p} % within ${nanoseconds(percentiles.ns[i])}`);
  return el('p', { class: 'note' }, words.join(', '));
}

// Shown at high rates, where counting all events would slow down the run.
function sampleNote(share) {
  if (share === undefined || share >= 1) return null;
  return el('p', { class: 'note' }, `of ${percent(share)} of the events: the run is too fast to count all`);
}

// Shown for runs with several writers: none knows the events of the others.
function edgesNote(histogram) {
  if (histogram.across_slices !== false) return null;
  const words = 'Intervals across the edge of a slice are left out where another writer has the next slice.';
  return el('p', { class: 'note' }, words);
}

function histogramPanel(histogram, width) {
  const time = histogram.unit === 'ns';
  const chart = {
    title: histogram.title,
    x: time || !histogram.unit ? histogram.x : `${histogram.x} [${histogram.unit}]`,
    y: 'events in a bin',
    logX: histogram.log_x,
    logY: histogram.log_y,
    counts: true,
    wholeX: !time && !histogram.unit,
    textX: time ? nanoseconds : short,
    series: [
      { name: 'entries', kind: 'bars', x: histogram.edges, y: histogram.counts },
      ...fitCurve(histogram),
      ...percentileMarks(histogram),
    ],
  };
  const value = time ? nanoseconds : (v) => short(v, 4);
  return [
    chartOf(chart, width),
    sampleNote(histogram.share_counted),
    edgesNote(histogram),
    percentilesNote(histogram.percentiles),
    entriesNote(histogram, value),
    fitNote(histogram.fit),
  ];
}

const SOURCE_COLUMNS = [
  ['rank', 'rank', String],
  ['state', 'state', String],
  ['hits_in_events', 'hits in events', whole],
  ['hits', 'hits', whole],
  ['hits_per_s', 'hits/s', short],
  ['bytes_per_s', 'B/s', short],
  ['lost', 'lost', whole],
  ['slices_missing', 'slices missing', whole],
  ['dead_time_s', 'dead time', seconds],
];
const GOOD_STATES = ['complete', 'recorded', 'live', 'ended', undefined];

function sourceTable(sources) {
  const known = SOURCE_COLUMNS.filter(([key]) => sources.some((s) => s[key] !== undefined));
  const columns = known.map(([key, title, show]) => ({
    title,
    number: show !== String,
    kind: 'plus',
    of: (s) => (s[key] === undefined ? '\u2013' : show(s[key])),
  }));
  const number = { title: 'no.', number: true, of: (s) => String(s.index) };
  const words = (title, key) => ({ title, kind: 'plus words', of: (s) => s[key] || '' });
  const labels = sources.some((s) => s.label) ? [words('in the map', 'label')] : [];
  return table([number, ...labels, words('name', 'name'), ...columns], sources, 'Sources');
}

function deadTimes(sources) {
  const dead = sources.filter((s) => s.dead_time_s > 0).sort((a, b) => b.dead_time_s - a.dead_time_s);
  if (!dead.length) return null;
  const words = dead.slice(0, 8).map((s) => `source ${s.index}${s.label ? ` ${s.label}` : ''} ${seconds(s.dead_time_s)}`);
  return el('p', { class: 'warn' }, `dead time: ${words.join(', ')}${dead.length > 8 ? ', \u2026' : ''}`);
}

// The sources at the axis: by their names in the detector map, or by number.
function sourcePlaces(sources) {
  return sources.map((source) => ({ at: source.index, name: source.label ? `${source.index} ${source.label}` : String(source.index) }));
}

function nameOfSource(sources) {
  return (low) => {
    const source = sources.find(({ index }) => index === low + 0.5);
    return `${source.index} ${source.label || source.name}`;
  };
}

function sourcesPanel(doc, width) {
  const { sources } = doc;
  const name = doc.kind === 'report' ? 'hits in events' : 'hits';
  const y = sources.map((s) => (doc.kind === 'report' ? s.hits_in_events : s.hits) || 0);
  const x = [...sources.map((s) => s.index - 0.5), sources[sources.length - 1].index + 0.5];
  const odd = sources.filter((s) => !GOOD_STATES.includes(s.state));
  const states = [...new Set(odd.map((s) => s.state))].join(', ');
  const warning = el('p', { class: 'warn' }, `${odd.length} of ${sources.length} sources: ${states}`);
  const series = [{ name, kind: 'bars', x, y }];
  const chart = { title: 'Hits by source', x: 'source', y: name, placesX: sourcePlaces(sources), nameX: nameOfSource(sources), counts: true, series };
  return [odd.length ? warning : null, deadTimes(sources), chartOf(chart, width), details('All sources', () => sourceTable(sources))];
}

function sourceName(doc, source, most) {
  const { name, label } = (doc.sources || [])[source] || {};
  return `${source} ${endOf(label || name || '', most)}`;
}

// The channels of a source at the axis, by names that distinguish them, or by number.
function channelsAt({ channel, name = [] }) {
  const isOnly = (words) => words && name.indexOf(words) === name.lastIndexOf(words);
  return channel.map((number, i) => ({ at: number, name: isOnly(name[i]) ? name[i] : channelText(number) }));
}

function channelsPanel(doc, width, redraw) {
  const list = doc.channels.filter((item) => item.channel.length);
  const names = list.map((item) => sourceName(doc, item.source, 60));
  const item = list[Math.min(chosen.get('channels') || 0, list.length - 1)];
  const note = item.others ? el('p', { class: 'note' }, `${whole(item.others)} hits on other channels`) : null;
  return [
    chooser('channels', 'Source', names, redraw),
    chartOf(
      {
        title: 'Hits by channel',
        x: 'channel',
        y: 'hits',
        textX: channelText,
        placesX: channelsAt(item),
        counts: true,
        series: [{ name: 'hits', kind: 'stems', x: item.channel, y: item.hits, names: item.name }],
      },
      width,
    ),
    sampleNote(doc.share_counted),
    note,
  ];
}

// A hit counts in each group of its channel, so the numbers are not shares of a whole.
function groupsPanel(doc, width) {
  const { name, hits, none, unknown } = doc.groups;
  const items = [...name.map((of, i) => ({ name: of, value: hits[i], colour: colourOfGroup(i, name) })),
    { name: 'no group', value: none, colour: NO_GROUP_COLOUR }];
  const columns = [
    { title: 'group', kind: 'words', of: (item) => item.name },
    { title: 'hits', number: true, of: (item) => whole(item.value) },
  ];
  const left = `${whole(unknown)} hits on channels that are not counted one by one`;
  return [
    barsPicture(items, width, 'Hits by group'),
    el('p', { class: 'note' }, 'A hit counts in each group of its channel.'),
    sampleNote(doc.share_counted),
    unknown ? el('p', { class: 'note' }, left) : null,
    details('Hits by group as a table', () => table(columns, items, 'Hits by group')),
  ];
}

function eventTitle(event) {
  const flags = (event.flags || []).map((flag) => `, ${flag}`).join('');
  const utc = event.utc ? `, ${event.utc}` : '';
  return `time ${event.time}${utc}: ${whole(event.n_hits)} hits in ${nanoseconds(event.duration_ns)}${flags}`;
}

// During a run the list changes every second. It is frozen while the user chooses, or has chosen, an event from it.
let listed = null;
function listOfEvents(doc) {
  if (doc.kind !== 'monitor') return { events: doc.events };
  const choosing = document.activeElement && document.activeElement.id === 'choose-events';
  const still = listed !== null && Boolean(choosing || chosen.get('events'));
  if (!still) listed = [...doc.events].reverse();
  return { events: listed, still };
}

// Explains the colours of the hits.
function eventLegend(event, doc) {
  const { hits } = event;
  const few = (numbers) => [...new Set(numbers)].sort((a, b) => a - b).slice(0, 14);
  if (!hits.group) {
    return few(hits.source).map((source) => ({ name: sourceName(doc, source, 40), colour: source }));
  }
  return few(hits.source.map((_, i) => groupOf(hits, i, doc.groups))).map((group) => ({
    name: group < doc.groups.length ? endOf(doc.groups[group], 40) : 'no group',
    colour: colourOfGroup(group, doc.groups),
  }));
}

function eventsPanel(doc, width, redraw) {
  const event = doc.events[Math.min(chosen.get('events') || 0, doc.events.length - 1)];
  const amount = event.hits.value ? 'value' : event.hits.payload ? 'first payload word' : null;
  const size = amount ? `The area of a mark grows with the ${amount}. ` : '';
  return [
    chooser('events', 'Event', doc.events.map(eventTitle), redraw),
    eventPicture(event, doc.groups, width),
    legend(eventLegend(event, doc)),
    positionViews(event, doc.groups, doc.positions, width),
    el('p', { class: 'note' }, size + (event.truncated ? 'Only the first hits are drawn.' : '')),
    doc.still ? el('p', { class: 'note' }, 'The list stands still until the first is chosen.') : null,
    details('Hits as a table', () => eventTable(event)),
  ];
}
