// Pictures of the data flow, the matrix of links, shares and amounts.

const FLOW_ROWS = 12;
const STRONG = 600; // same value as in page.css
const RULER = document.createElement('canvas').getContext('2d');

// At most FLOW_ROWS of a list; the last row combines the others.
function gathered(list, kind, rate) {
  if (list.length <= FLOW_ROWS) return list;
  const rest = list.slice(FLOW_ROWS - 1);
  const sum = rest.reduce((total, item) => total + (rate(item) || 0), 0);
  return [...list.slice(0, FLOW_ROWS - 1), { name: `${rest.length} more ${kind}`, gathered: sum }];
}

function flowColumn(title, items, x, boxWidth, height, colour) {
  const step = Math.min(46, (height - 30) / Math.max(items.length, 1));
  const top = 26 + (height - 30 - step * items.length) / 2;
  const boxes = items.map((item, i) => ({ ...item, x, y: top + i * step + step / 2, width: boxWidth }));
  const parts = boxes.flatMap((box) => [
    coloured(
      colour,
      svg(
        'rect',
        {
          x,
          y: box.y - Math.min(17, step / 2 - 2),
          width: boxWidth,
          height: Math.min(34, step - 4),
          rx: 5,
          class: 'box',
        },
        svg('title', {}, box.full || box.label),
      ),
    ),
    text(x + 8, box.y + (box.rate && step > 34 ? -2 : 4), clipped(box.label, boxWidth - 16, STRONG, box.lead), { class: 'strong' }),
    ...(box.rate && step > 34 ? [text(x + 8, box.y + 12, box.rate)] : []),
  ]);
  return { boxes, parts: [text(x, 14, title), ...parts] };
}

// Shortens a label to the part of its end that fits. `lead` precedes it and is never shortened.
function clipped(words, pixels, weight = 400, lead = '') {
  RULER.font = `${weight} 11.5px ${getComputedStyle(document.body).fontFamily}`;
  const fits = (letters) => RULER.measureText(lead + endOf(words, letters)).width <= pixels;
  if (fits(words.length)) return lead + words;
  let [most, tooMany] = [0, words.length];
  while (tooMany - most > 1) {
    const middle = Math.floor((most + tooMany) / 2);
    if (fits(middle)) most = middle;
    else tooMany = middle;
  }
  return lead + (most ? endOf(words, most) : '');
}

function flowLinks(from, to, colour) {
  const parts = [];
  for (const a of from) {
    for (const b of to) {
      const [x1, x2] = [a.x + a.width, b.x];
      const middle = (x1 + x2) / 2;
      const thick = Math.max(0.8, 7 * Math.min(a.share || 0.1, b.share || 0.1));
      parts.push(
        coloured(
          colour,
          svg('path', {
            d: `M${x1} ${a.y}C${middle} ${a.y} ${middle} ${b.y} ${x2} ${b.y}`,
            class: 'flow',
            'stroke-width': thick.toFixed(2),
          }),
        ),
      );
    }
  }
  return parts;
}

function flowItems(list, kind, rate, name, unit) {
  const items = gathered(list, kind, rate);
  const value = (item) => (item.gathered !== undefined ? item.gathered : rate(item));
  const most = greatest([1e-9, ...items.map((item) => value(item) || 0)]);
  return items.map((item) => ({
    label: item.gathered !== undefined ? item.name : name(item),
    lead: item.gathered === undefined && kind === 'sources' ? `${item.index} ` : '',
    full: item.name,
    rate: value(item) === undefined ? '' : perSecond(value(item), unit),
    share: (value(item) || 0) / most,
  }));
}

// `columns`: {title, items, colour}, from left to right.
function flowPicture(columns, width) {
  const rows = greatest(columns.map((column) => column.items.length));
  const height = Math.max(90, 34 + Math.min(rows, FLOW_ROWS) * 42);
  const boxWidth = Math.min(190, (width - 30) / columns.length - 24);
  const gap = (width - boxWidth * columns.length - 4) / Math.max(1, columns.length - 1);
  const made = columns.map((column, i) =>
    flowColumn(column.title, column.items, 2 + i * (boxWidth + gap), boxWidth, height, column.colour),
  );
  const links = made.slice(1).flatMap((column, i) => flowLinks(made[i].boxes, column.boxes, columns[i].colour));
  const label = `Flow of data: ${columns.map((column) => column.title.toLowerCase()).join(' to ')}`;
  return picture(width, height, label, ...links, ...made.flatMap((column) => column.parts));
}

// "rank 3 (sources 0,4; builder 1)": shows the rank; the full name appears on hover.
function rankLabel(name, left, y) {
  const label = text(left - 8, y, clipped(name.replace(/ \(.*$/s, ''), left - 10), { 'text-anchor': 'end' });
  label.append(svg('title', {}, name));
  return label;
}

// Shade: the rate. Bar below: the fill level of the ring.
function matrixPicture(links, width) {
  const rates = links.rate_bytes_per_s || [];
  const most = greatest([1, ...rates.flat().filter((rate) => typeof rate === 'number')]);
  const left = 90;
  const cell = Math.min(90, (width - left) / Math.max(1, links.columns.length));
  const parts = links.columns.map((name, i) =>
    text(left + i * cell + cell / 2, 14, clipped(name, cell), { 'text-anchor': 'middle' }),
  );
  links.rows.forEach((name, r) => {
    const y = 22 + r * 34;
    parts.push(rankLabel(name, left, y + 18));
    links.columns.forEach((_, i) =>
      parts.push(
        ...matrixCell(left + i * cell, y, cell - 3, (rates[r] || [])[i], most, ((links.fill || [])[r] || [])[i]),
      ),
    );
  });
  return picture(width, 28 + links.rows.length * 34, 'Rate and ring fill from each rank to each builder', ...parts);
}

function matrixCell(x, y, width, rate, most, ring) {
  const share = (rate || 0) / most;
  const parts = [
    svg('rect', { x, y, width, height: 30, rx: 3, class: 'cell', 'fill-opacity': (0.08 + 0.5 * share).toFixed(3) }),
    text(x + width / 2, y + 17, width > 40 ? bytesPerSecond(rate) : '', { 'text-anchor': 'middle', class: 'strong' }),
  ];
  if (typeof ring === 'number')
    parts.push(svg('rect', { x, y: y + 26, width: Math.max(0, Math.min(1, ring)) * width, height: 4, class: 'fill' }));
  return parts;
}

// Shares of a whole, side by side. `items`: {name, value, colour}.
function shareBar(items, label) {
  const all = items.reduce((sum, item) => sum + item.value, 0) || 1;
  let x = 0;
  const parts = items.map((item) => {
    const place = { x, y: 0, width: (1000 * item.value) / all, height: 10 };
    const about = svg('title', {}, `${item.name}: ${whole(item.value)}`);
    const part = coloured(item.colour, svg('rect', { ...place, class: 'segment' }, about));
    x += (1000 * item.value) / all;
    return part;
  });
  return el(
    'div',
    { class: 'bar' },
    svg('svg', { viewBox: '0 0 1000 10', preserveAspectRatio: 'none', role: 'img', 'aria-label': label }, ...parts),
  );
}

// Named amounts, one per row. `items`: {name, value, colour}.
function barsPicture(items, width, label) {
  const row = 22;
  const left = Math.min(width / 3, 16 + 6.8 * greatest(items.map((item) => item.name.length)));
  const room = Math.max(20, width - left - 86);
  const most = greatest([1, ...items.map((item) => item.value)]);
  const parts = items.flatMap((item, i) => {
    const y = i * row;
    const long = (room * item.value) / most;
    const bar = { x: left, y: y + 4, width: long.toFixed(1), height: row - 8, class: 'area' };
    const about = svg('title', {}, `${item.name}: ${whole(item.value)}`);
    return [
      text(left - 8, y + 15, clipped(item.name, left - 10), { 'text-anchor': 'end' }),
      coloured(item.colour, svg('rect', bar, about)),
      text(left + long + 6, y + 15, whole(item.value)),
    ];
  });
  const all = picture(width, Math.max(1, items.length * row), label, ...parts);
  return el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label }, all);
}
