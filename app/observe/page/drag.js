// Ranges on the axes of a chart, chosen by dragging over it.

const SHORTEST_DRAG = 5; // pixels

// The contents of the chart's panel while the user drags: they must not be exchanged.
let contentsWhileDragging = null;

function isDragging() {
  return contentsWhileDragging !== null;
}

function endsOf(edges) {
  return [edges[0], edges[edges.length - 1]];
}

function limited(value, low, high) {
  return Math.min(high, Math.max(low, value));
}

// The area of a chart inside its axes, in its own pixels.
function areaOf(picture) {
  const [, , width, height] = picture.getAttribute('viewBox').split(' ').map(Number);
  return { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: height - MARGIN.bottom, width, height };
}

// The place of the pointer, as shares of both axes, 0 to 1.
function sharesAt(event, picture) {
  const area = areaOf(picture);
  const place = picture.getBoundingClientRect();
  const x = ((event.clientX - place.left) * area.width) / place.width;
  const y = ((event.clientY - place.top) * area.height) / place.height;
  return [(x - area.left) / (area.right - area.left), (area.bottom - y) / (area.bottom - area.top)].map((share) => limited(share, 0, 1));
}

// A band between shares of the axes; without `y`, over the whole height.
function bandOf(picture, x, y = [0, 1]) {
  const { left, right, top, bottom } = areaOf(picture);
  const [low, high] = x.map((share) => left + share * (right - left)).sort((a, b) => a - b);
  const [above, below] = y.map((share) => bottom - share * (bottom - top)).sort((a, b) => a - b);
  return svg('rect', { class: 'band', x: low, width: high - low, y: above, height: below - above });
}

function isLongDrag(from, to, picture, axes) {
  const { left, right, top, bottom } = areaOf(picture);
  const pixels = [Math.abs(to[0] - from[0]) * (right - left), Math.abs(to[1] - from[1]) * (bottom - top)];
  return axes.every((_, i) => pixels[i] >= SHORTEST_DRAG);
}

// Calls `done` with a range for each of the axes, which are linear; a double click calls `back`.
function makeDraggable(figure, axes, done, back) {
  const picture = figure.querySelector('svg');
  if (!picture) return;
  picture.classList.add('draggable');
  let from = null;
  let band = null;
  const follow = (to) => {
    const next = bandOf(picture, [from[0], to[0]], axes.length === 2 ? [from[1], to[1]] : undefined);
    if (band) band.replaceWith(next);
    else picture.append(next);
    band = next;
  };
  const release = () => {
    if (band) band.remove();
    [from, band, contentsWhileDragging] = [null, null, null];
  };
  picture.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    picture.setPointerCapture(event.pointerId);
    contentsWhileDragging = [...picture.closest('.body').children];
    from = sharesAt(event, picture);
    follow(from);
  });
  picture.addEventListener('pointermove', (event) => from && follow(sharesAt(event, picture)));
  picture.addEventListener('pointerup', (event) => {
    if (!from) return;
    const [begin, end] = [from, sharesAt(event, picture)];
    release();
    if (isLongDrag(begin, end, picture, axes)) done(axes.map(({ edges }, i) => rangeBetween(edges, begin[i], end[i])));
  });
  picture.addEventListener('lostpointercapture', release);
  picture.addEventListener('dblclick', back);
}

function rangeBetween(edges, ...shares) {
  const [low, high] = endsOf(edges);
  return shares.sort((a, b) => a - b).map((share) => low + share * (high - low));
}
