// The histograms of --hist, of a report or of a run in progress: linear or logarithmic, zoomed, with the fit of a peak.

// The user's ranges by histogram: {zoom: a range per axis, fit: a range}, each null for none; the next document keeps them.
const views = new Map();
let fetchedSpectrum = null; // the last answer of the monitor

function spectrumView(name) {
  if (!views.has(name)) views.set(name, { zoom: null, fit: null });
  return views.get(name);
}

function chosenSpectrum(doc) {
  const spectra = doc.spectra || [];
  return spectra[Math.min(chosen.get('spectrum') || 0, spectra.length - 1)];
}

// A report contains all counts, a monitor serves those that are asked for.
function spectraOf(doc) {
  if (!some(doc.spectra)) return null;
  const spectrum = chosenSpectrum(doc);
  const served = fetchedSpectrum && fetchedSpectrum.name === spectrum.name ? fetchedSpectrum : spectrum;
  const channelNames = ((doc.setup || {}).detector || {}).names || [];
  return { names: doc.spectra.map((one) => one.name), spectrum: served, channelNames };
}

// Writes an end of a range with enough digits to distinguish it from the other end.
function fieldText(range, end) {
  return rounded(range[end], Math.min(17, digitsBetween(range, 3) + 4));
}

// `range`: what the fields show; null for nothing.
function rangeFields(axis, i, count, range) {
  const of = count === 2 ? ` (${axis.quantity})` : '';
  return ['from', 'to'].flatMap((word, k) => {
    const id = `spectrum-${word}-${i}`;
    const field = el('input', { id, type: 'number', step: 'any' });
    if (range) field.value = fieldText(range, k);
    return [el('label', { for: id }, `${word}${of}`), field];
  });
}

function fieldsOf(i) {
  return ['from', 'to'].map((word) => document.getElementById(`spectrum-${word}-${i}`));
}

function setFields(ranges) {
  ranges.forEach((range, i) => fieldsOf(i).forEach((field, k) => (field.value = fieldText(range, k))));
}

// The ranges in the fields; an empty field means the end of the axis. Null if one does not ascend.
function rangesInFields(axes) {
  const ranges = axes.map(({ edges }, i) => fieldsOf(i).map((field, k) => (field.value === '' ? endsOf(edges)[k] : field.valueAsNumber)));
  return ranges.every(([low, high]) => high > low) ? ranges : null;
}

// The keyboard's way to everything that the mouse can do. The form stays in place while the counts change.
function rangeForm(spectrum, redraw) {
  const { name, axes } = spectrum;
  const view = spectrumView(name);
  const button = (words, attributes, act) => {
    const node = el('button', { type: 'button', ...attributes }, words);
    node.addEventListener('click', act);
    return node;
  };
  const withRange = (act) => () => {
    const ranges = rangesInFields(axes);
    fieldsOf(0)[1].setCustomValidity(ranges ? '' : 'the range must rise');
    if (!ranges) return fieldsOf(0)[1].reportValidity();
    act(ranges);
    redraw();
  };
  const zoom = withRange((ranges) => (view.zoom = ranges));
  const form = el(
    'form',
    { class: 'choose', id: 'spectrum-range', novalidate: '', 'data-of': name, 'aria-label': 'Range of the histogram' },
    ...axes.flatMap((axis, i) => rangeFields(axis, i, axes.length, view.zoom ? view.zoom[i] : view.fit)),
    el('button', { type: 'submit' }, 'Zoom'),
    button('Whole range', { id: 'spectrum-whole' }, () => backToWhole(name, redraw)),
    ...(axes.length === 1
      ? [
          button('Fit a peak', { id: 'spectrum-do-fit' }, withRange(([range]) => (view.fit = range))),
          button('No fit', { id: 'spectrum-no-fit' }, () => {
            view.fit = null;
            redraw();
          }),
        ]
      : []),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    zoom();
  });
  return form;
}

function backToWhole(name, redraw) {
  spectrumView(name).zoom = null;
  fieldsOf(0).concat(fieldsOf(1)).forEach((field) => field && (field.value = ''));
  redraw();
}

function spectrumNotes({ entries, underflow, overflow, time, final, since }) {
  const words = `${whole(entries)} entries, ${whole(underflow)} below and ${whole(overflow)} above the range`;
  const when = final ? ', at the end of the run' : time ? `, ${moment(time)} UTC` : '';
  return el('p', { class: 'note' }, words + (since ? `, since ${moment(since)}` : '') + when);
}

function spectraPanel({ names, spectrum, channelNames }, width, redraw) {
  if (isDragging()) return contentsWhileDragging;
  const choosers = [
    chooser('spectrum', 'Histogram', names, redraw),
    chooser('spectrum-scale', 'Scale', ['linear', 'logarithmic'], redraw),
  ];
  const row = () => el('div', { class: 'row' }, ...choosers);
  if (!spectrum.counts) return [row(), el('p', { class: 'note' }, spectrum.final ? 'not counted' : 'not counted yet')];
  const view = spectrumView(spectrum.name);
  const isFlat = spectrum.axes.length === 1;
  const shown = zoomed(spectrum, view.zoom);
  const [axis] = spectrum.axes;
  const constant = chosen.get('spectrum-background') === 1;
  const fit = isFlat && view.fit ? fitPeak(axis.edges, spectrum.counts, ...view.fit, constant) : null;
  const chart = spectrumChart(shown, fit, chosen.get('spectrum-scale') === 1, width, new Map(channelNames));
  markFitted(chart, isFlat && view.fit, shown.axes[0].edges);
  const dragged = (ranges) => {
    setFields(ranges);
    if (isFlat && chosen.get('spectrum-drag') === 1) [view.fit] = ranges;
    else view.zoom = ranges;
    redraw();
  };
  makeDraggable(chart, shown.axes, dragged, () => backToWhole(spectrum.name, redraw));
  if (isFlat) {
    choosers.push(chooser('spectrum-drag', 'Dragging', ['zooms', 'fits a peak'], redraw));
    choosers.push(chooser('spectrum-background', 'Background', ['linear', 'constant'], redraw));
  }
  return [row(), rangeForm(spectrum, redraw), chart, spectrumNotes(spectrum), peakNote(fit, axis)];
}

// Asks the monitor for the counts of the chosen histogram. A hidden page asks only for the last ones.
async function fetchSpectrum(doc, options) {
  const spectrum = doc.kind === 'monitor' && chosenSpectrum(doc);
  if (!spectrum || (document.hidden && !isOver(doc))) return;
  const answer = await fetch(`histograms/${spectrum.name}`, options);
  if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
  fetchedSpectrum = await answer.json();
  drawPanel(PANELS.find((panel) => panel.id === 'spectra'), doc);
}
