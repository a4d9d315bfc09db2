// Alarms: active ones are shown above all else, and a screen reader announces them at once.

function showAlarms(alarms) {
  const active = (alarms || []).filter((alarm) => alarm.active);
  const node = document.getElementById('alarms');
  const words = active.map((alarm) => `Alarm: ${alarm.condition}, since ${alarm.raised}`);
  // Announced again only when the text changes.
  if (node.dataset.shown === JSON.stringify(words)) return;
  node.dataset.shown = JSON.stringify(words);
  node.replaceChildren(...words.map((line) => el('p', {}, line)));
}

function alarmState(alarm) {
  return el('span', { class: alarm.active ? 'bad' : 'good' }, alarm.active ? 'active' : alarm.over ? 'over' : 'quiet');
}

function alarmsPanel(alarms) {
  const columns = [
    { title: 'condition', of: (a) => a.condition },
    { title: 'state', of: alarmState },
    { title: 'value', number: true, of: (a) => short(a.value, 4) },
    { title: 'last raised', kind: 'plus', of: (a) => a.raised || 'never' },
  ];
  // Only a report lists every time an alarm was raised.
  if (alarms.some((a) => a.over !== undefined)) {
    columns[3].title = 'raised';
    columns.push({ title: 'over', kind: 'plus', of: (a) => a.over || 'not until the end' });
  }
  return [table(columns, alarms, 'Alarms')];
}
