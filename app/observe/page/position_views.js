// Positions of an event's hits in the detector: from above (x and y) and from the side (z over x or y, whichever
// spreads more). Both axes of a view have the same scale. Small dots mark the detector's other positions.

const VIEW_MARGIN = { left: 56, top: 24, bottom: 40, right: 18 };
const VIEW_MOST = 340;
// Beyond this size, the pixels between two positions cannot be resolved.
const GREATEST_METRES = 1e12;
// Viridis, whose lightness increases uniformly.
const TIME_COLOURS = [
  [68, 1, 84],
  [59, 82, 139],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 37],
];
const AXES = 'xyz';

// `share`: 0 to 1.
function colourOfTime(share) {
  const place = share * (TIME_COLOURS.length - 1);
  const low = Math.min(Math.floor(place), TIME_COLOURS.length - 2);
  const mixed = TIME_COLOURS[low].map((from, i) => Math.round(from + (place - low) * (TIME_COLOURS[low + 1][i] - from)));
  return `rgb(${mixed.join(' ')})`;
}

function isDrawable(position) {
  return Array.isArray(position) && position.every((m) => typeof m === 'number' && Math.abs(m) <= GREATEST_METRES);
}

function reachOf(positions, axis) {
  const metres = positions.map((position) => position[axis]);
  return [least(metres), greatest(metres)];
}

function sizeOf([low, high]) {
  return high - low;
}

// Maps a square in metres to a square in pixels, with `up` pointing upwards.
function squareAxes(positions, across, up, side) {
  const reaches = [reachOf(positions, across), reachOf(positions, up)];
  const length = 1.1 * greatest(reaches.map(sizeOf)) || 1;
  const axis = ([low, high], from, to) =>
    axisOf({ low: low / 2 + high / 2 - length / 2, high: low / 2 + high / 2 + length / 2, count: 4, from, to });
  const { left, top } = VIEW_MARGIN;
  return [axis(reaches[0], left, left + side), axis(reaches[1], top + side, top)];
}

function viewFrame(title, x, y, names, side) {
  const { left, top } = VIEW_MARGIN;
  const bottom = top + side;
  const metres = (axis) => labelledTicks(axis, (value, digits) => rounded(value, Math.max(7, digits))).ticks;
  const middle = top + side / 2;
  return [
    text(left, 14, title),
    ...metres(x).flatMap(({ at, name }) => [
      line(x.at(at), top, x.at(at), bottom, 'grid'),
      text(x.at(at), bottom + 16, name, { 'text-anchor': 'middle' }),
    ]),
    ...metres(y).flatMap(({ at, name }) => [
      line(left, y.at(at), left + side, y.at(at), 'grid'),
      text(left - 6, y.at(at) + 4, name, { 'text-anchor': 'end' }),
    ]),
    text(left + side / 2, bottom + 34, `${names[0]} [m]`, { 'text-anchor': 'middle' }),
    text(12, middle, `${names[1]} [m]`, { 'text-anchor': 'middle', transform: `rotate(-90 12 ${middle})` }),
  ];
}

function viewOf(title, [across, up], placed, detector, side) {
  const all = [...detector, ...placed.map((hit) => hit.position)];
  const [x, y] = squareAxes(all, across, up, side);
  const place = (position) => [x.at(position[across]).toFixed(2), y.at(position[up]).toFixed(2)];
  const dots = all.map((position) => `M${place(position).join(' ')}h0`).join('');
  const marks = placed.map(({ position, mark }) => {
    const [cx, cy] = place(position);
    const circle = svg('circle', { cx, cy, ...mark.attributes }, svg('title', {}, mark.about));
    return mark.colour === undefined ? circle : coloured(mark.colour, circle);
  });
  const { left, top, right, bottom } = VIEW_MARGIN;
  return picture(
    left + side + right,
    top + side + bottom,
    `${title}: hits of the event at their positions, ${AXES[up]} over ${AXES[across]}`,
    ...viewFrame(title, x, y, [AXES[across], AXES[up]], side),
    svg('path', { d: dots, class: 'dots' }),
    ...marks,
  );
}

function timeScale(event) {
  const colours = TIME_COLOURS.map((_, i) => {
    const share = i / (TIME_COLOURS.length - 1);
    return svg('stop', { offset: share, 'stop-color': colourOfTime(share) });
  });
  const end = nanoseconds(event.duration_ns);
  return picture(
    220,
    36,
    `Colours of the positions: time since the first hit, from 0 to ${end}`,
    svg('defs', {}, svg('linearGradient', { id: 'time-colours' }, ...colours)),
    svg('rect', { x: 0, y: 4, width: 200, height: 10, fill: 'url(#time-colours)' }),
    text(0, 30, '0'),
    text(200, 30, end, { 'text-anchor': 'end' }),
  );
}

// The hits that have a position, with the same marks as in the picture over time: coloured by group, or by time.
function placedHits(event, groups) {
  const { hits } = event;
  const marks = marksOf(event, groups);
  return hits.position.flatMap((position, i) => {
    if (!isDrawable(position)) return [];
    const { about, size } = marks[i];
    const share = event.duration_ns ? Math.min(1, hits.dt_ns[i] / event.duration_ns) : 0;
    const drawn = hits.group ? { class: 'mark' } : { class: 'placed', fill: colourOfTime(share) };
    const colour = hits.group ? marks[i].colour : undefined;
    return [{ position, mark: { about, colour, attributes: { r: size.toFixed(1), ...drawn } } }];
  });
}

// `known`: positions of the detector. Returns null if no hit has one.
function positionViews(event, groups, known, width) {
  if (!event.hits.position) return null;
  const placed = placedHits(event, groups);
  if (!placed.length) return null;
  const detector = (known || []).filter(isDrawable);
  const all = [...detector, ...placed.map((hit) => hit.position)];
  const two = width > 2 * (VIEW_MARGIN.left + VIEW_MARGIN.right) + 400;
  const side = Math.min(VIEW_MOST, (two ? width / 2 - 8 : width) - VIEW_MARGIN.left - VIEW_MARGIN.right);
  const across = sizeOf(reachOf(all, 0)) >= sizeOf(reachOf(all, 1)) ? 0 : 1;
  const missing = event.hits.position.length - placed.length;
  return el(
    'div',
    { class: 'row', id: 'positions' },
    viewOf('Top view', [0, 1], placed, detector, side),
    viewOf('Side view', [across, 2], placed, detector, side),
    event.hits.group ? null : timeScale(event),
    missing ? el('p', { class: 'note' }, `${whole(missing)} hit${missing === 1 ? '' : 's'} without a position`) : null,
  );
}
