// Buttons that steer a run; the server asks for the token that the run printed at its start.

async function sendCommand(command, token) {
  const answer = await fetch('control', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify({ command }),
  });
  const words = (await answer.text()).slice(0, 200);
  return answer.ok ? `${command}: accepted` : `${command}: refused (${answer.status}) ${words}`;
}

function setUpControl() {
  const form = document.getElementById('control');
  const answer = document.getElementById('answer');
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const command = event.submitter ? event.submitter.value : 'pause';
    const token = document.getElementById('token').value;
    if (command === 'stop' && !window.confirm('Stop the run?')) return;
    answer.textContent = token
      ? await sendCommand(command, token).catch((error) => `${command}: ${error.message}`)
      : 'enter the token that the run printed at its start';
  });
}

function showControl(doc) {
  const over = ['ended', 'failed'].includes(doc.state);
  document.getElementById('control').hidden = !(doc.control && doc.control.enabled) || over;
}
