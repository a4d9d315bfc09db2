// Creates elements. External text enters only as text nodes and attributes, never as markup.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== null) node.setAttribute(name, String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// A picture of `width` by `height` pixels; `label` is its description for screen readers.
function picture(width, height, label, ...children) {
  return svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label },
    ...children,
  );
}

function text(x, y, words, attributes) {
  return svg('text', { x, y, ...attributes }, words);
}

function line(x1, y1, x2, y2, kind) {
  return svg('line', { x1, y1, x2, y2, class: kind });
}

// `columns`: {title, of (row => text or node), number, help}.
function table(columns, rows, caption) {
  const cell = (column, row) => el('td', { class: column.number ? 'number' : column.kind }, column.of(row));
  const head = columns.map((c) =>
    el('th', { scope: 'col', class: c.number ? 'number' : null, title: c.help }, c.title),
  );
  return el(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    el(
      'table',
      {},
      el('thead', {}, el('tr', {}, ...head)),
      el('tbody', {}, ...rows.map((row) => el('tr', {}, ...columns.map((column) => cell(column, row))))),
    ),
  );
}

// Initially closed; its contents are created when it is first opened.
function details(title, contents) {
  const node = el('details', { 'data-key': title }, el('summary', {}, title));
  node.addEventListener('toggle', () => {
    if (node.open && node.childElementCount === 1) node.append(contents());
  });
  return node;
}

// Lets a long name break after its underscores.
function breakable(name) {
  return el('span', {}, ...name.split(/(?<=_)/).flatMap((part, i) => (i ? [el('wbr'), part] : [part])));
}

function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== undefined && value !== null && value !== '');
  return el('dl', { class: 'facts' }, ...shown.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
}

function legend(items) {
  return el(
    'ul',
    { class: 'legend' },
    ...items.map((item) => el('li', {}, coloured(item.colour, el('span', { class: 'key' })), item.name)),
  );
}
