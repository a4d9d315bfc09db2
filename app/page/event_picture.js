// One event: its hits over time, a row for each channel, coloured by source.

const EVENT_HEIGHT = 320;

function eventRows(hits) {
  const keys = hits.channel.map((channel, i) => hits.source[i] * 2 ** 32 + channel);
  const sorted = [...new Set(keys)].sort((a, b) => a - b);
  const rows = new Map(sorted.map((key, row) => [key, row]));
  return { count: sorted.length, keys: sorted, of: keys.map((key) => rows.get(key)) };
}

function rowName(key) {
  return `source ${Math.floor(key / 2 ** 32)}, channel ${key % 2 ** 32}`;
}

function eventMarks(event, rows, x, y) {
  const { hits } = event;
  const payload = hits.payload || [];
  const most = greatest([1, ...finite(payload)]);
  return hits.dt_ns.map((dt, i) => {
    const size = typeof payload[i] === 'number' ? 2 + 6 * Math.sqrt(payload[i] / most) : 3.5;
    const word = typeof payload[i] === 'number' ? `, payload ${payload[i]}` : '';
    const about = `${nanoseconds(dt)}, ${rowName(rows.keys[rows.of[i]])}${word}`;
    return svg(
      'circle',
      {
        cx: x.at(dt).toFixed(1),
        cy: y(rows.of[i]).toFixed(1),
        r: size.toFixed(1),
        class: `mark c${hits.source[i] % 7}`,
      },
      svg('title', {}, about),
    );
  });
}

function eventPicture(event, width) {
  const rows = eventRows(event.hits);
  const name = (key) => (width > 500 ? rowName(key) : `${Math.floor(key / 2 ** 32)}: ${key % 2 ** 32}`);
  const left = Math.max(96, 8 + 6.8 * greatest(rows.keys.map((key) => name(key).length)));
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
  const names = rows.keys.map((key, row) =>
    row % every
      ? null
      : text(left, y(row) + 4, name(key), { 'text-anchor': 'end' }),
  );
  const ticks = x.ticks.flatMap((tick) => [
    line(x.at(tick), 10, x.at(tick), bottom, 'grid'),
    text(x.at(tick), bottom + 16, nanoseconds(tick), { 'text-anchor': 'middle' }),
  ]);
  return picture(
    width,
    EVENT_HEIGHT,
    `Event with ${event.n_hits} hits in ${nanoseconds(event.duration_ns)}: hits over time by channel`,
    ...ticks,
    ...names,
    line(left + 12, bottom, width - 18, bottom, 'axis'),
    text((left + width) / 2, EVENT_HEIGHT - 6, 'time since the first hit', { 'text-anchor': 'middle' }),
    ...eventMarks(event, rows, x, y),
  );
}

function eventTable(event) {
  const rows = event.hits.dt_ns.map((_, i) => i);
  const columns = [
    { title: 'since first hit', number: true, of: (i) => nanoseconds(event.hits.dt_ns[i], 6) },
    { title: 'source', number: true, of: (i) => whole(event.hits.source[i]) },
    { title: 'channel', number: true, of: (i) => String(event.hits.channel[i]) },
  ];
  if (event.hits.payload)
    columns.push({
      title: 'payload',
      number: true,
      of: (i) => (event.hits.payload[i] === null ? '\u2013' : String(event.hits.payload[i])),
    });
  return table(columns, rows, 'Hits of the event');
}
