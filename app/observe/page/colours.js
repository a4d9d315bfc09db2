// Colours of sources, groups and series by their number: no two of the first 64 look alike.

// The first seven are those of page.css, which differ between the light and the dark page.
const FIRST_COLOURS = 7;
const NO_GROUP_COLOUR = 6; // grey
// The others are those of app/document/series_colour.cpp, which explains them.
const GOLDEN_TURN = 0.6180339887498949;
const FIRST_TURN = 0.2;
const LIGHTNESS = [0.52, 0.62, 0.42, 0.72, 0.32];
const SATURATION = [1, 0.45];

// A component of a colour in HSL as red (turn 0), green (8) or blue (4): CSS Color Module Level 4, section 7.1.
function colourComponent(turn, hue, saturation, lightness) {
  const k = (turn + 12 * hue) % 12;
  const chroma = saturation * Math.min(lightness, 1 - lightness);
  return Math.floor(255 * (lightness - chroma * Math.min(1, Math.max(-1, Math.min(k - 3, 9 - k)))) + 0.5);
}

function seriesColour(number) {
  if (number < FIRST_COLOURS) return `var(--c${number})`;
  const n = number - FIRST_COLOURS;
  const hue = (FIRST_TURN + n * GOLDEN_TURN) % 1;
  const components = [0, 8, 4].map((turn) =>
    colourComponent(turn, hue, SATURATION[n % SATURATION.length], LIGHTNESS[n % LIGHTNESS.length]),
  );
  return `#${components.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

// Gives an element the colour of a number, which its class uses as --c.
function coloured(number, node) {
  node.style.setProperty('--c', seriesColour(number));
  return node;
}

// Grey is for no group.
function colourOfGroup(number, groups) {
  if (number >= groups.length) return NO_GROUP_COLOUR;
  return number < NO_GROUP_COLOUR ? number : number + 1;
}
