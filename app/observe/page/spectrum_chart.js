// Draws a histogram of --hist, with one axis or two, and the peak that is fitted in it.

const MOST_CELLS = 100; // drawn along each of two axes
const CELLS_HEIGHT = 420;

function labelOfAxis(axis) {
  return axis.unit ? `${axis.quantity} [${axis.unit}]` : axis.quantity;
}

// The bins that overlap a range, at least one: {first, last} of the edges.
function binsOver(edges, [low, high]) {
  const first = Math.max(0, edges.findIndex((edge) => edge > low) - 1);
  const end = edges.findIndex((edge, i) => i > first && edge >= high);
  return { first, last: end < 0 ? edges.length - 1 : end };
}

// The part of a histogram that is zoomed to.
function zoomed(spectrum, zoom) {
  if (!zoom) return spectrum;
  const parts = spectrum.axes.map((axis, i) => binsOver(axis.edges, zoom[i]));
  const axes = spectrum.axes.map((axis, i) => ({ ...axis, edges: axis.edges.slice(parts[i].first, parts[i].last + 1) }));
  const rows = spectrum.counts.slice(parts[0].first, parts[0].last);
  return { ...spectrum, axes, counts: axes.length === 2 ? rows.map((row) => row.slice(parts[1].first, parts[1].last)) : rows };
}

// Joins neighbouring bins of two axes until the eye can distinguish them.
function coarser(spectrum) {
  const together = spectrum.axes.map(({ edges }) => Math.ceil((edges.length - 1) / MOST_CELLS));
  const axes = spectrum.axes.map((axis, i) => {
    const last = axis.edges.length - 1;
    return { ...axis, edges: axis.edges.filter((_, n) => n === last || n % together[i] === 0) };
  });
  const counts = axes[0].edges.slice(1).map(() => new Array(axes[1].edges.length - 1).fill(0));
  spectrum.counts.forEach((row, i) =>
    row.forEach((n, j) => {
      counts[Math.floor(i / together[0])][Math.floor(j / together[1])] += n;
    }),
  );
  return { ...spectrum, axes, counts };
}

// The only channel in a bin; undefined if there are several, or none.
function onlyChannel(low, high) {
  const first = Math.ceil(low);
  return first < high && first + 1 >= high ? first : undefined;
}

function channelName(channel, names) {
  return names.get(channel) || channelText(channel);
}

// {at, name} of the bins of an axis that are single channels; undefined for other axes.
function channelPlaces({ quantity, edges }, names) {
  if (quantity !== 'channel') return undefined;
  const bins = edges.slice(1).map((high, i) => ({ at: (edges[i] + high) / 2, channel: onlyChannel(edges[i], high) }));
  if (bins.some(({ channel }) => channel === undefined)) return undefined;
  return bins.map(({ at, channel }) => ({ at, name: channelName(channel, names) }));
}

// Returns how an axis writes its numbers; undefined: as numbers.
function textOfAxis({ quantity }) {
  return quantity === 'channel' ? (value) => (Number.isInteger(value) ? channelText(value) : '') : undefined;
}

function binName({ quantity }, names) {
  if (quantity !== 'channel') return undefined;
  return (low, high) => {
    const channel = onlyChannel(low, high);
    if (channel !== undefined) return channelName(channel, names);
    return `${channelText(Math.ceil(low))} to ${channelText(Math.ceil(high) - 1)}`;
  };
}

function countsThings({ quantity }) {
  return quantity === 'channel' || quantity === 'n_hits';
}

// The darker a cell, the more entries; empty cells are not drawn.
function cellsOf(spectrum, log, width, height, names) {
  const [first, second] = spectrum.axes;
  const ends = (axis) => ({ low: axis.edges[0], high: axis.edges[axis.edges.length - 1], whole: countsThings(axis) });
  const x = axisOf({ ...ends(first), count: Math.max(2, Math.floor(width / 90)), from: MARGIN.left, to: width - MARGIN.right });
  const y = axisOf({ ...ends(second), count: 5, from: height - MARGIN.bottom, to: MARGIN.top });
  const scale = log ? (n) => Math.log(1 + n) : (n) => n;
  const top = scale(greatest(spectrum.counts.flat())) || 1;
  const cells = spectrum.counts.flatMap((row, i) =>
    row.map((n, j) => {
      if (n === 0) return null;
      const [left, right] = [x.at(first.edges[i]), x.at(first.edges[i + 1])];
      const [bottom, above] = [y.at(second.edges[j]), y.at(second.edges[j + 1])];
      const box = { x: left.toFixed(1), y: above.toFixed(1), width: (right - left).toFixed(1), height: (bottom - above).toFixed(1) };
      const opacity = (0.12 + (0.88 * scale(n)) / top).toFixed(3);
      return coloured(0, svg('rect', { ...box, class: 'cell', 'fill-opacity': opacity }, svg('title', {}, `${whole(n)} entries`)));
    }),
  );
  const chart = {
    x: labelOfAxis(first),
    y: labelOfAxis(second),
    textX: textOfAxis(first),
    textY: textOfAxis(second),
    placesX: channelPlaces(first, names),
    placesY: channelPlaces(second, names),
  };
  const label = `${spectrum.name}: ${chart.y} against ${chart.x}`;
  return el('figure', {}, picture(width, height, label, ...frame(chart, x, y, width, height), ...cells.filter(Boolean)));
}

// A logarithmic chart begins below one entry, where the curve ends.
function curveOf(fit, edges, log) {
  const [low, high] = endsOf(edges);
  const [from, to] = [Math.max(low, fit.from), Math.min(high, fit.to)];
  if (!(to > from)) return [];
  const width = edges[1] - edges[0];
  const x = Array.from({ length: 401 }, (_, i) => from + ((to - from) * i) / 400);
  const y = x.map((at) => fit.at(at) * width).map((n) => (log && n < 0.6 ? null : n));
  return [{ name: 'fit', kind: 'line', x, y, colour: 1, drawnOnly: true }];
}

// `names`: of channels, by number.
function spectrumChart(shown, fit, log, width, names) {
  if (shown.axes.length === 2) return cellsOf(coarser(shown), log, width, CELLS_HEIGHT, names);
  const [axis] = shown.axes;
  const bars = { name: 'entries', kind: 'bars', x: axis.edges, y: shown.counts };
  const series = [bars, ...(fit && !fit.failure ? curveOf(fit, axis.edges, log) : [])];
  const words = { title: shown.name, x: labelOfAxis(axis), y: 'entries in a bin' };
  const axisText = { textX: textOfAxis(axis), placesX: channelPlaces(axis, names), nameX: binName(axis, names) };
  return chartOf({ ...words, ...axisText, logY: log, wholeX: countsThings(axis), counts: true, series }, width);
}

// Marks the range of a fit behind the chart.
function markFitted(figure, range, edges) {
  const picture = figure.querySelector('svg');
  const [low, high] = endsOf(edges);
  if (!picture || !range || range[1] <= low || range[0] >= high) return;
  const shares = range.map((value) => limited((value - low) / (high - low), 0, 1));
  picture.prepend(bandOf(picture, shares));
}

// 511.234 and 0.056 -> "511.234 +- 0.056 keV"
function withError([value, error], unit) {
  const digits = error > 0 ? Math.min(15, Math.max(0, 1 - Math.floor(Math.log10(error)))) : 3;
  return `${value.toFixed(digits)} \u00b1 ${error.toFixed(digits)}${unit ? ` ${unit}` : ''}`;
}

function peakFacts(fit, { unit }) {
  const per = unit ? `entries per ${unit}` : 'entries per unit of the axis';
  const places = fit.background.length === 1 ? [''] : [` at ${fieldText([fit.from, fit.to], 0)}`, ` at ${fieldText([fit.from, fit.to], 1)}`];
  return facts([
    ['centre', withError(fit.centre, unit)],
    ['sigma', withError(fit.sigma, unit)],
    ['FWHM', withError(fit.fwhm, unit)],
    ['area', withError(fit.area, 'entries')],
    ...fit.background.map((level, i) => [`background${places[i]}`, withError(level, per)]),
    ['deviance', `${rounded(fit.deviance, 4)} with ${fit.ndf} degrees of freedom`],
  ]);
}

function peakNote(fit, axis) {
  if (!fit) return null;
  const title = { id: 'spectrum-fit', role: 'group', 'aria-label': 'Fit of a peak' };
  if (fit.failure) return el('div', title, el('p', { class: 'warn' }, `No fit: ${fit.failure}.`));
  const how = 'Gaussian and background, maximum likelihood for Poisson counts; uncertainties of one standard deviation';
  return el('div', title, peakFacts(fit, axis), el('p', { class: 'note' }, how));
}

