// Finds the problems of a run in its status document.

// The same value as in app/observe/rank_remarks.
const SILENT_S = 2;
const OLD_S = 3;
const MOST_NAMED = 6;

function isOver(doc) {
  return ['ended', 'failed'].includes(doc.state);
}

function silentRanks(doc) {
  return (doc.ranks || []).filter((rank) => rank.silent_s >= SILENT_S);
}

function nameOf(rank) {
  return `rank ${rank.rank}${rank.roles ? ` (${rank.roles})` : ''}${rank.host ? ` on ${rank.host}` : ''}`;
}

function namesOf(ranks) {
  const more = ranks.length - MOST_NAMED;
  return ranks.slice(0, MOST_NAMED).map(nameOf).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

// The text contains no durations, because a screen reader reads it again whenever it changes.
function silenceOf(doc) {
  if (doc.run && doc.run.age_s >= OLD_S) return 'Rank 0 is busy or stuck: what is shown here is not of this moment.';
  const silent = silentRanks(doc);
  return silent.length ? `Silent: ${namesOf(silent)}.` : '';
}
