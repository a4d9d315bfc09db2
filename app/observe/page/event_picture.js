// One event: its hits over time, with a row per channel, coloured by group, or by source if there are no groups.

const EVENT_HEIGHT = 320;

// Encodes the channel of a hit as one number.
function keyOf(hits, i) {
  return hits.source[i] * 2 ** 32 + hits.channel[i];
}

function eventRows(hits) {
  const keys = hits.channel.map((_, i) => keyOf(hits, i));
  const sorted = [...new Set(keys)].sort((a, b) => a - b);
  const rows = new Map(sorted.map((key, row) => [key, row]));
  const names = new Map(keys.map((key, i) => [key, (hits.name || [])[i] || '']));
  return {
    count: sorted.length,
    keys: sorted,
    names: sorted.map((key) => names.get(key)),
    of: keys.map((key) => rows.get(key)),
  };
}

function rowName(key, name) {
  const channel = `source ${Math.floor(key / 2 ** 32)}, channel ${channelText(key % 2 ** 32)}`;
  return name ? `${channel}, ${name}` : channel;
}

// The name of a channel is more informative than its number.
function rowLabel(key, name, wide) {
  const source = Math.floor(key / 2 ** 32);
  if (name) return wide ? `source ${source}, ${endOf(name, 24)}` : endOf(name, 14);
  return wide ? rowName(key) : `${source}: ${channelText(key % 2 ** 32)}`;
}

// Returns the number of a hit's first group; groups.length if it has none.
function groupOf(hits, i, groups) {
  const number = groups.indexOf(hits.group[i].split(';')[0]);
  return number < 0 ? groups.length : number;
}

function hitColour(hits, i, groups) {
  return hits.group ? colourOfGroup(groupOf(hits, i, groups), groups) : hits.source[i];
}

// The calibrated value of a hit with its decimals and unit; undefined without one.
function valueText(hits, i) {
  const value = (hits.value || [])[i];
  if (typeof value !== 'number') return undefined;
  const unit = (hits.unit || [])[i];
  return rounded(value, 6) + (unit ? `\u202f${unit}` : '');
}

// Returns the numbers that the marks show by their sizes: values, or payload words without them; null for neither.
function amountsOf({ value, payload, channel }) {
  const amounts = value || payload || channel.map(() => null);
  return amounts.map((amount) => (typeof amount === 'number' ? Math.max(0, amount) : null));
}

// Returns {size, colour, about} of each hit.
function marksOf(event, groups) {
  const { hits } = event;
  const payload = hits.payload || [];
  const amounts = amountsOf(hits);
  const most = greatest(finite(amounts)) || 1;
  return hits.dt_ns.map((dt, i) => {
    const word = typeof payload[i] === 'number' ? `, payload ${payload[i]}` : '';
    const value = valueText(hits, i) === undefined ? '' : `, value ${valueText(hits, i)}`;
    const group = hits.group && hits.group[i] ? `, group ${hits.group[i]}` : '';
    return {
      size: amounts[i] === null ? 3.5 : 2 + 6 * Math.sqrt(amounts[i] / most),
      colour: hitColour(hits, i, groups),
      about: `${nanoseconds(dt)}, ${rowName(keyOf(hits, i), (hits.name || [])[i])}${value}${word}${group}`,
    };
  });
}

function eventMarks(event, groups, rows, x, y) {
  const { dt_ns: times } = event.hits;
  return marksOf(event, groups).map(({ size, colour, about }, i) => {
    const place = { cx: x.at(times[i]).toFixed(1), cy: y(rows.of[i]).toFixed(1) };
    return coloured(colour, svg('circle', { ...place, r: size.toFixed(1), class: 'mark' }, svg('title', {}, about)));
  });
}

function eventPicture(event, groups, width) {
  const rows = eventRows(event.hits);
  const labels = rows.keys.map((key, row) => rowLabel(key, rows.names[row], width > 500));
  const left = Math.max(96, 8 + 6.8 * greatest(labels.map((label) => label.length)));
  const bottom = EVENT_HEIGHT - 40;
  const x = axisOf({
    low: 0,
    high: event.duration_ns || 1,
    count: Math.max(2, Math.floor(width / 130)),
    from: left + 12,
    to: width - 18,
  });
  const step = (bottom - 10) / Math.max(1, rows.count);
  const y = (row) => 10 + step * (row + 0.5);
  const every = Math.max(1, Math.ceil(14 / step));
  const names = labels.map((label, row) =>
    row % every
      ? null
      : text(left, y(row) + 4, label, { 'text-anchor': 'end' }),
  );
  const ticks = labelledTicks(x, nanoseconds).ticks.flatMap(({ at, name }) => [
    line(x.at(at), 10, x.at(at), bottom, 'grid'),
    text(x.at(at), bottom + 16, name, { 'text-anchor': 'middle' }),
  ]);
  return picture(
    width,
    EVENT_HEIGHT,
    `Event with ${event.n_hits} hits in ${nanoseconds(event.duration_ns)}: hits over time by channel`,
    ...ticks,
    ...names,
    line(left + 12, bottom, width - 18, bottom, 'axis'),
    text((left + width) / 2, EVENT_HEIGHT - 6, 'time since the first hit', { 'text-anchor': 'middle' }),
    ...eventMarks(event, groups, rows, x, y),
  );
}

function eventTable(event) {
  const rows = event.hits.dt_ns.map((_, i) => i);
  const columns = [
    { title: 'since first hit', number: true, of: (i) => nanoseconds(event.hits.dt_ns[i], 6) },
    { title: 'source', number: true, of: (i) => whole(event.hits.source[i]) },
    { title: 'channel', number: true, of: (i) => channelText(event.hits.channel[i]) },
  ];
  const words = (title, list) => list && columns.push({ title, kind: 'plus words', of: (i) => list[i] });
  words('name', event.hits.name);
  words('groups', event.hits.group);
  if (event.hits.value)
    columns.push({ title: 'value', number: true, of: (i) => valueText(event.hits, i) || '\u2013' });
  if (event.hits.payload)
    columns.push({
      title: 'payload',
      number: true,
      of: (i) => (event.hits.payload[i] === null ? '\u2013' : String(event.hits.payload[i])),
    });
  return table(columns, rows, 'Hits of the event');
}
