// Shows the document inside the page, or polls its server once a second.

const POLL_MS = 1000;
// A stopped process accepts connections but never answers.
const PATIENCE_MS = 5000;
const shownParts = new Map();
let latest = null;
let answered = null; // time of the last answer

function setText(id, words) {
  const node = document.getElementById(id);
  // A screen reader reads exactly what changes.
  if (node.textContent !== words) node.textContent = words;
  return node;
}

function figuresOf(doc) {
  const rates = doc.rates || {};
  const ledger = doc.ledger || {};
  const dropped = Object.values(ledger.dropped || {}).reduce((sum, n) => sum + n, 0);
  const removed = dropped - (ledger.lost || 0);
  const counted = [
    ['hits in', short(ledger.hits_in, 4)],
    ['hits lost', short(ledger.lost, 4), ledger.lost ? 'bad' : null],
    ...(removed > 0 ? [['hits removed on request', short(removed, 4)]] : []),
    ['hits in events', short(ledger.hits_in_events, 4)],
    ['events', short(ledger.events, 4)],
  ];
  const mean = doc.kind === 'report' ? 'mean ' : '';
  const pairs = [
    ...counted,
    [`${mean}hits/s`, short(rates.hits_per_s)],
    ['bytes/s', short(rates.bytes_per_s)],
    [`${mean}events/s`, short(rates.events_per_s)],
    ['time of the data', doc.run && doc.run.data_s !== undefined ? seconds(doc.run.data_s) : '\u2013'],
    ['running for', doc.run && doc.run.elapsed_s !== undefined ? seconds(doc.run.elapsed_s) : '\u2013'],
  ];
  return pairs
    .filter(([, value]) => value !== '\u2013')
    .map(([name, value, kind]) => el('div', {}, el('dt', {}, name), el('dd', { class: kind }, value)));
}

function progressOf(run) {
  const left = typeof run.remaining_s === 'number' ? `${seconds(run.remaining_s)} left` : '';
  const done = typeof run.share_done === 'number' ? `${percent(run.share_done)} done` : '';
  const code = typeof run.exit_code === 'number' ? `exit code ${run.exit_code}` : '';
  const number = run.number ? `run ${run.number}${run.comment ? ` (${run.comment})` : ''}` : '';
  const parts = [number, run.began ? `began ${run.began}` : '', run.ended ? `ended ${run.ended}` : '', done, left, code];
  return parts.filter(Boolean).join(', ');
}

function showHead(doc) {
  const run = doc.run || {};
  setText('name', run.name || '');
  showState(doc.state || '');
  setText('message', doc.message || '');
  setText('progress', progressOf(run));
  setText('silent', isOver(doc) ? '' : silenceOf(doc));
  document.getElementById('figures').replaceChildren(...figuresOf(doc));
}

function showState(state) {
  const name = (latest && latest.run && latest.run.name) || 'run';
  document.title = `${state}: ${name} \u2013 Eventloom`;
  setText('state', state).setAttribute('data-state', state);
}

function sectionOf(panel) {
  const found = document.getElementById(`panel-${panel.id}`);
  if (found) return found;
  const section = el(
    'section',
    { id: `panel-${panel.id}`, class: panel.wide ? 'panel wide' : 'panel', 'aria-labelledby': `title-${panel.id}` },
    el('h2', { id: `title-${panel.id}` }, panel.title),
    el('div', { class: 'body' }),
  );
  document.getElementById('panels').append(section);
  return section;
}

// Keeps unchanged choices and fields in place, because the user may be using them.
function exchange(body, nodes) {
  const old = [...body.children];
  nodes.forEach((node, i) => {
    if (!old[i]) body.append(node);
    else if (old[i] !== node && (!old[i].querySelector('select, input') || !old[i].isEqualNode(node))) old[i].replaceWith(node);
  });
  for (const node of old.slice(nodes.length)) node.remove();
}

// Replaces the contents of a panel, but preserves what the user has opened and the keyboard focus.
function replaceBody(body, nodes) {
  const open = [...body.querySelectorAll('details[open]')].map((node) => node.dataset.key);
  const inside = body.contains(document.activeElement) ? document.activeElement : null;
  const place = inside ? [...body.querySelectorAll('summary, select, [tabindex]')].indexOf(inside) : -1;
  exchange(body, nodes.filter(Boolean));
  for (const node of body.querySelectorAll('details')) node.open = open.includes(node.dataset.key);
  const lost = place >= 0 && !body.contains(inside);
  if (lost) [...body.querySelectorAll('summary, select, [tabindex]')][place]?.focus({ preventScroll: true });
}

function drawPanel(panel, doc, anyway) {
  const part = panel.of(doc);
  const section = sectionOf(panel);
  section.hidden = !part;
  if (!part) return;
  const words = JSON.stringify(part);
  if (!anyway && shownParts.get(panel.id) === words) return;
  shownParts.set(panel.id, words);
  const body = section.querySelector('.body');
  const redraw = () => drawPanel(panel, latest, true);
  replaceBody(body, panel.draw(part, Math.max(240, body.clientWidth || 0), redraw));
}

function show(doc, anyway = false) {
  latest = doc;
  showHead(doc);
  showAlarms(doc.alarms);
  showControl(doc);
  for (const panel of PANELS) drawPanel(panel, doc, anyway);
}

function tellConnection(words, isBad) {
  setText('connection', words).classList.toggle('bad', isBad);
  document.body.classList.toggle('past', isBad);
}

// The page keeps showing its last data and marks them as past. If the run has ended, they are final.
function showLoss(error) {
  document.getElementById('control').hidden = true;
  if (latest && isOver(latest)) {
    const words = `The monitor has closed with its run. The last state: ${latest.state}.`;
    tellConnection(words, latest.state !== 'ended');
    return;
  }
  showState('no answer');
  tellConnection(`The monitor does not answer (${error.message}). ${whatIsLeft()}`, true);
}

function whatIsLeft() {
  if (!latest) return 'Nothing is known of the run.';
  const silent = silentRanks(latest);
  const last = `The last state, of ${moment(answered.toISOString())} UTC: ${latest.state}`;
  return silent.length ? `${last}; silent then: ${namesOf(silent)}.` : `${last}.`;
}

// Identifies this page: at its end, the run waits until every viewer has seen it.
const ASKER = { 'X-Eventloom-User': `page ${Math.floor(Math.random() * 1e9)}` };

async function poll() {
  try {
    const options = { cache: 'no-store', headers: ASKER, signal: AbortSignal.timeout(PATIENCE_MS) };
    const answer = await fetch('status', options);
    if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
    const doc = await answer.json();
    answered = new Date();
    tellConnection('', false);
    show(doc);
    await fetchSpectrum(doc, { ...options, signal: AbortSignal.timeout(PATIENCE_MS) });
  } catch (error) {
    showLoss(error);
  }
  setTimeout(poll, POLL_MS);
}

function redrawWhenResized() {
  let pending = 0;
  let width = window.innerWidth;
  window.addEventListener('resize', () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(pending);
    pending = setTimeout(() => latest && show(latest, true), 150);
  });
}

setUpControl();
redrawWhenResized();
const inside = JSON.parse(document.getElementById('document').textContent);
if (inside) show(inside);
else poll();
