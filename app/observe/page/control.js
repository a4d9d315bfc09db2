// Controls that steer a run. The server requires the token that the run printed at its start.

const COMMAND_PATIENCE_MS = 10000;
const QUESTIONS = { stop: 'Stop the run?', 'stop-run': 'End this run?', reset: 'Begin the histograms again from zero?' };
const BEGINNINGS = ['start', 'next-run'];

// Returns the reason of a refusal: the text of {"error": "..."}, or the beginning of any other body.
function reasonIn(body) {
  try {
    return String(JSON.parse(body).error).slice(0, 200);
  } catch {
    return body.slice(0, 200);
  }
}

async function sendCommand(command, more) {
  const answer = await fetch('control', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${tokenField().value.trim()}` },
    body: JSON.stringify({ command, ...more }),
    signal: AbortSignal.timeout(COMMAND_PATIENCE_MS),
  });
  const body = await answer.text();
  if (!answer.ok) return `${command}: refused (${answer.status}), ${reasonIn(body)}`;
  if ('comment' in more) commentField().value = ''; // the run after the next needs another
  return `${command}: accepted`;
}

async function steer(command, more = {}) {
  setText('answer', `${command}: sent`);
  setText('answer', await sendCommand(command, more).catch((error) => `${command}: not sent, ${error.message}`));
}

function commentField() {
  return document.getElementById('comment');
}

// Returns the fields of a command besides its name.
function moreFor(command) {
  const comment = commentField().value.trim();
  return BEGINNINGS.includes(command) && comment !== '' ? { comment } : {};
}

function tokenField() {
  return document.getElementById('token');
}

function enableControl() {
  const disabled = tokenField().value.trim() === '';
  for (const node of document.querySelectorAll('#control button, #speed, #comment')) node.disabled = disabled;
}

function setUpControl() {
  tokenField().addEventListener('input', enableControl);
  // Enter in these fields must not send a command.
  for (const name of ['access', 'runs']) {
    document.getElementById(name).addEventListener('submit', (event) => event.preventDefault());
  }
  for (const button of document.querySelectorAll('#control button[data-command]')) {
    const { command } = button.dataset;
    button.addEventListener('click', () => {
      if (command in QUESTIONS && !window.confirm(QUESTIONS[command])) return;
      steer(command, moreFor(command));
    });
  }
  document.getElementById('pace').addEventListener('submit', (event) => {
    event.preventDefault();
    steer('speed', { speed: document.getElementById('speed').valueAsNumber });
  });
  enableControl();
}

// The field shows the speed of the run until the user edits it.
function showSpeed(setup) {
  document.getElementById('pace').hidden = setup.all_live === true;
  const field = document.getElementById('speed');
  const known = typeof setup.speed === 'number' ? String(setup.speed) : '';
  if (field.value === field.defaultValue) field.value = known;
  field.defaultValue = known;
}

// Only one of several runs has a number.
function showRuns(doc) {
  const idle = doc.state === 'idle';
  document.getElementById('runs').hidden = !idle && !(doc.run && doc.run.number);
  for (const button of document.querySelectorAll('#runs button')) {
    button.hidden = (button.dataset.command === 'start') !== idle;
  }
}

function showControl(doc) {
  document.getElementById('control').hidden = !(doc.control && doc.control.enabled) || isOver(doc);
  document.querySelector('[data-command=reset]').hidden = doc.state === 'idle' || !some(doc.spectra);
  showRuns(doc);
  showSpeed(doc.setup || {});
}
