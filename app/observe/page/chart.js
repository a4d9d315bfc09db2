// The only code that draws charts: curves and bars on a pair of axes, as SVG.

const MARGIN = { left: 56, right: 14, top: 10, bottom: 40 };

function stepOf(span, count) {
  const rough = span / count;
  const decade = 10 ** Math.floor(Math.log10(rough));
  return decade * (rough < 1.5 * decade ? 1 : rough < 3 * decade ? 2 : rough < 7 * decade ? 5 : 10);
}

// `whole`: integers only.
function linearTicks(low, high, count, whole = false) {
  const step = Math.max(stepOf(high - low, count), whole ? 1 : 0);
  const first = Math.ceil(low / step - 1e-9);
  const ticks = [];
  // A number may be too large for the next one to differ, so the loop has its own limit.
  for (let i = 0; i <= 4 * count && (first + i) * step <= high + step * 1e-9; ++i) ticks.push((first + i) * step);
  return [...new Set(ticks)];
}

// Powers of ten; if there are few, also their multiples by 2 and 5.
function logTicks(low, high, count) {
  const decades = Math.log10(high / low);
  const every = Math.max(1, Math.ceil(decades / count));
  const factors = decades < 2 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let n = Math.floor(Math.log10(low)); n <= Math.ceil(Math.log10(high)); n += every) {
    ticks.push(...factors.map((factor) => factor * 10 ** n));
  }
  return ticks.filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
}

// `from` and `to` are pixels. `log`: values at or below zero are placed at the low end. `whole`: ticks are integers.
function axisOf({ low, high, log, whole, count, from, to }) {
  const above = high > low ? high : log ? low * 10 : low + 1;
  const share = log
    ? (v) => Math.log(Math.max(v, low) / low) / Math.log(above / low)
    : (v) => (v - low) / (above - low);
  return {
    at: (value) => from + (to - from) * Math.min(1, Math.max(0, share(value))),
    ticks: log ? logTicks(low, above, count) : linearTicks(low, above, count, whole),
  };
}

function finite(values) {
  return values.filter((value) => typeof value === 'number' && Number.isFinite(value));
}

function least(values) {
  return values.reduce((a, b) => Math.min(a, b), Infinity);
}

function greatest(values) {
  return values.reduce((a, b) => Math.max(a, b), -Infinity);
}

function rangeOfX(chart) {
  const all = finite(chart.series.flatMap((series) => series.x));
  if (all.length === 0) return [chart.logX ? 1 : 0, chart.logX ? 10 : 1];
  const positive = all.filter((value) => value > 0);
  const low = chart.logX ? (least(all) > 0 ? least(all) : least(positive) / 2) : least(all);
  // The first and the last stem do not stand on the edges of the chart.
  const beside = chart.series[0].kind === 'stems' && !chart.logX ? 0.5 : 0;
  return [low - beside, greatest(all) + beside];
}

// A linear axis begins at zero. A logarithmic axis of counts leaves room below one.
function rangeOfY(chart) {
  const all = finite(chart.series.flatMap((series) => series.y));
  const high = Math.max(all.length ? greatest(all) : 1, 0);
  if (!chart.logY) return [0, high > 0 ? high * 1.06 : 1];
  const positive = all.filter((value) => value > 0);
  const low = chart.counts ? 0.6 : positive.length ? least(positive) / 1.5 : 1;
  return [low, Math.max(high * 1.4, low * 10)];
}

// Returns the places {at, name} of an axis whose names have room beside each other. `roomOf(name)`: pixels.
function roomyNames(places, axis, roomOf) {
  let before = null;
  return places.filter(({ at, name }) => {
    const here = { pixel: axis.at(at), room: roomOf(name) };
    if (before && Math.abs(here.pixel - before.pixel) < (here.room + before.room) / 2) return false;
    before = here;
    return true;
  });
}

function namedColumns(places, axis) {
  const ended = places.map(({ at, name }) => ({ at, name: endOf(name, 16) }));
  return roomyNames(ended, axis, (name) => 7 * name.length + 8);
}

function namedRows(places, axis) {
  return roomyNames(places.map(({ at, name }) => ({ at, name: endOf(name, 7) })), axis, () => 14);
}

// {at, name} of the ticks of an axis of numbers, and the number that its name must subtract because the ticks would
// need more digits than `mostDigits`.
function labelledTicks(axis, show = short, mostDigits = 17) {
  const digits = digitsBetween(axis.ticks);
  const far = digits > mostDigits && show === short;
  const less = far ? axis.ticks[0] : 0;
  const labels = tickLabels(far ? axis.ticks.map((tick) => tick - less) : axis.ticks, show);
  const ticks = axis.ticks.map((at, i) => ({ at, name: far && i ? `+${labels[i]}` : labels[i] }));
  return { ticks, less: far ? ` \u2212 ${rounded(less, digits)}` : '' };
}

function frame(chart, x, y, width, height) {
  const bottom = height - MARGIN.bottom;
  const parts = [];
  const ofX = chart.placesX ? { ticks: namedColumns(chart.placesX, x), less: '' } : labelledTicks(x, chart.textX, 12);
  const ofY = chart.placesY ? { ticks: namedRows(chart.placesY, y), less: '' } : labelledTicks(y, chart.textY, 6);
  for (const { at, name } of ofY.ticks) {
    parts.push(
      line(MARGIN.left, y.at(at), width - MARGIN.right, y.at(at), 'grid'),
      text(MARGIN.left - 6, y.at(at) + 4, name, { 'text-anchor': 'end' }),
    );
  }
  for (const { at, name } of ofX.ticks) {
    parts.push(
      line(x.at(at), bottom, x.at(at), bottom + 4, 'axis'),
      // The last label must not be cut at the edge of the picture.
      text(Math.min(x.at(at), width - 3.5 * name.length), bottom + 16, name, { 'text-anchor': 'middle' }),
    );
  }
  const middle = (bottom + MARGIN.top) / 2;
  parts.push(
    line(MARGIN.left, bottom, width - MARGIN.right, bottom, 'axis'),
    text((MARGIN.left + width - MARGIN.right) / 2, height - 6, chart.x + ofX.less, { 'text-anchor': 'middle' }),
    text(12, middle, chart.y + ofY.less, { 'text-anchor': 'middle', transform: `rotate(-90 12 ${middle})` }),
  );
  return parts;
}

// Bars between edges (one more x than y), down to the axis.
function barsPath(series, x, y, bottom) {
  let path = `M${x.at(series.x[0]).toFixed(1)} ${bottom}`;
  series.y.forEach((value, i) => {
    const top = value > 0 ? y.at(value) : bottom;
    path += `V${top.toFixed(1)}H${x.at(series.x[i + 1]).toFixed(1)}`;
  });
  return `${path}V${bottom}Z`;
}

function linePath(series, x, y) {
  let path = '';
  let pen = 'M';
  series.y.forEach((value, i) => {
    const drawn = typeof value === 'number' && Number.isFinite(value);
    if (drawn) path += `${pen}${x.at(series.x[i]).toFixed(1)} ${y.at(value).toFixed(1)}`;
    pen = drawn ? 'L' : 'M';
  });
  return path;
}

function drawn(series, x, y, bottom) {
  const colour = series.colour || 0;
  if (series.kind === 'bars') return [coloured(colour, svg('path', { d: barsPath(series, x, y, bottom), class: 'area' }))];
  if (series.kind === 'stems') {
    return series.y.map((value, i) => {
      const stem = coloured(colour, line(x.at(series.x[i]), bottom, x.at(series.x[i]), y.at(value), 'stem'));
      if (series.names && series.names[i]) stem.append(svg('title', {}, `${series.names[i]}: ${whole(value)}`));
      return stem;
    });
  }
  return [coloured(colour, svg('path', { d: linePath(series, x, y), class: `curve${series.dashed ? ' dashed' : ''}` }))];
}

// {title, x, y: labels with units; logX, logY; wholeX: x is integers; counts: y is numbers of things; textX, textY: a
// number as text; placesX: named places {at, name} instead of numbers at the axis; nameX: text of a row of the table;
// series: [{name, kind: line, bars or stems, x, y, colour, dashed, names: one per stem, drawnOnly: not in the table}]}
function chartOf(chart, width, height = 240) {
  const series = chart.series.filter((one) => one.y.length > 0);
  if (series.length === 0) return el('p', { class: 'note' }, 'no data yet');
  const [lowX, highX] = rangeOfX({ ...chart, series });
  const [lowY, highY] = rangeOfY({ ...chart, series });
  const bottom = height - MARGIN.bottom;
  const x = axisOf({
    low: lowX,
    high: highX,
    log: chart.logX,
    whole: chart.wholeX,
    count: Math.max(2, Math.floor(width / 90)),
    from: MARGIN.left,
    to: width - MARGIN.right,
  });
  const y = axisOf({ low: lowY, high: highY, log: chart.logY, whole: chart.counts, count: 5, from: bottom, to: MARGIN.top });
  const label = `${chart.title}: ${chart.y} against ${chart.x}`;
  const figure = el(
    'figure',
    {},
    picture(
      width,
      height,
      label,
      ...frame(chart, x, y, width, height),
      ...series.flatMap((one) => drawn(one, x, y, bottom)),
    ),
  );
  if (series.length > 1) figure.append(legend(series.map((one) => ({ name: one.name, colour: one.colour || 0 }))));
  figure.append(details(`${chart.title} as a table`, () => chartTable(chart, series)));
  return figure;
}

function chartTable(chart, series) {
  // Stems and curves alongside other series only mark positions and have no separate rows.
  const columns = series.filter((one, i) => i === 0 || (one.kind !== 'stems' && !one.drawnOnly));
  const first = columns[0];
  const rows = first.y.map((_, i) => i);
  const digits = digitsBetween(first.x);
  const number = (value) => (chart.textX || short)(value, digits);
  const range = (i) => {
    if (chart.nameX) return chart.nameX(first.x[i], first.x[i + 1]);
    return first.kind === 'bars' ? `${number(first.x[i])} up to ${number(first.x[i + 1])}` : (chart.textX || whole)(first.x[i]);
  };
  return table(
    [
      { title: chart.x, of: range },
      ...(first.names ? [{ title: 'name', kind: 'words', of: (i) => first.names[i] }] : []),
      ...columns.map((one) => ({ title: one.name, number: true, of: (i) => (chart.textY || whole)(one.y[i]) })),
    ],
    rows,
    chart.title,
  );
}
