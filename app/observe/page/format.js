// Formats numbers for display.

const PREFIXES = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];
const TIMES = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, '\u00b5s'],
  [1, 'ns'],
  [1e-3, 'ps'],
];

const READABLE_DIGITS = 6;

function rounded(value, digits) {
  return String(Number(value.toPrecision(digits)));
}

// 12345 -> "12.3 k"; numbers with many digits have no prefix, which would not shorten them.
function short(value, digits = 3) {
  if (typeof value !== 'number' || !Number.isFinite(value)) return '\u2013';
  if (digits > READABLE_DIGITS) return rounded(value, digits);
  const [unit, prefix] = PREFIXES.find(([least]) => Math.abs(value) >= least) || [1, ''];
  return rounded(value / unit, digits) + (prefix ? `\u202f${prefix}` : '');
}

// 12345 -> "12 345"
function whole(value) {
  if (typeof value !== 'number') return value === undefined || value === null ? '\u2013' : String(value);
  return Number.isInteger(value) ? String(value).replace(/\B(?=(\d{3})+$)/g, '\u202f') : rounded(value, 4);
}

function nanoseconds(ns, digits = 3) {
  if (typeof ns !== 'number' || !Number.isFinite(ns)) return '\u2013';
  if (ns === 0) return '0';
  const [unit, name] = TIMES.find(([least]) => Math.abs(ns) >= least) || TIMES[TIMES.length - 1];
  return `${rounded(ns / unit, digits)}\u202f${name}`;
}

function bytesPerSecond(value) {
  return value === undefined || value === null ? '\u2013' : `${short(value)}${value >= 1000 ? '' : ' '}B/s`;
}

function perSecond(value, unit) {
  if (value === undefined || value === null) return '\u2013';
  return unit === 'B' ? bytesPerSecond(value) : `${short(value)} ${unit}/s`;
}

function percent(share) {
  if (typeof share !== 'number') return '\u2013';
  if (share > 0 && share < 0.0001) return '< 0.01 %';
  return `${(100 * share).toFixed(share < 0.1 ? 2 : 1)} %`;
}

function seconds(s) {
  if (typeof s !== 'number') return '\u2013';
  if (s < 60) return nanoseconds(s * 1e9);
  const minutes = Math.floor(s / 60);
  const hours = Math.floor(minutes / 60);
  return hours ? `${hours} h ${minutes % 60} min` : `${minutes} min ${Math.round(s % 60)} s`;
}

// 2026-11-22T21:45:03Z -> "11-22 21:45:03"
function moment(iso) {
  return String(iso || '').slice(5, 19).replace('T', ' ');
}

// Labels counts; a tick between two integers gets no label.
function wholeOnly(value) {
  return Number.isInteger(value) ? String(value) : '';
}

function decadeOf(number) {
  return Math.floor(Math.log10(Math.abs(number)) + 1e-9);
}

// Returns how many significant digits distinguish neighbours of ascending numbers: at least `fewest`, at most 17.
function digitsBetween(numbers, fewest = 3) {
  let digits = fewest;
  for (let i = 1; i < numbers.length; ++i) {
    const step = numbers[i] - numbers[i - 1];
    const most = Math.max(Math.abs(numbers[i]), Math.abs(numbers[i - 1]));
    if (step > 0 && most > 0) digits = Math.max(digits, decadeOf(most) - decadeOf(step) + 1);
  }
  return Math.min(digits, 17);
}

// Returns the labels of ascending ticks, no two of them equal. `show(value, digits)`: a number as text.
function tickLabels(ticks, show = short) {
  const digits = digitsBetween(ticks);
  return ticks.map((value) => show(value, digits));
}

// 4325379 -> "1/2/3": system, subsystem and channel; 3 -> "3", in subsystem 0 of system 0. As formats/channel_text.hpp.
function channelText(id) {
  const channel = String(id & 0xffff);
  return id >>> 16 === 0 ? channel : `${(id >>> 22) & 0x3f}/${(id >>> 16) & 0x3f}/${channel}`;
}

// Shortens a long name to its end, which is more informative than its beginning, often a path.
function endOf(words, most) {
  return words.length <= most ? words : `\u2026${words.slice(words.length - most + 1)}`;
}
