// Quantities: how they are written, and the steps of the sliders that set them.

const PREFIXES = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
];
const TIMES = [
  [1, "s"],
  [1e-3, "ms"],
  [1e-6, "us"],
  [1e-9, "ns"],
];

/** Writes a number of SI units as a scenario has it, such as "1.5 Mbit/s". */
export function show(value, unit) {
  if (unit === "" || unit === "1") return String(Number(value.toPrecision(6)));
  if (unit === "pkt") return `${Number(value.toPrecision(6))} pkt`;
  const scale = unit === "s" ? TIMES : PREFIXES.map(([factor, prefix]) => [factor, prefix + unit]);
  if (value === 0) return `0 ${unit}`;
  const [factor, name] = scale.find(([least]) => Math.abs(value) >= least * 0.9999999) ?? scale.at(-1);
  return `${Number((value / factor).toPrecision(6))} ${name}`;
}

/** Gives the unit in which the times of a range are written, and the factor from seconds to it. */
export function timeUnit([, end]) {
  return end > 1 ? ["s", 1] : ["ms", 1e3];
}

/** Gives the value of a field for the scenario: a quantity as a text, a plain number as a number. */
export function written(value, unit) {
  return unit === "" || unit === "1" ? value : show(value, unit);
}

const FINE = [1, 1.2, 1.5, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9];

/** Gives round numbers from one value to another, some for each decade. */
function decades(low, high, whole = false) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power += 1) {
    for (const mantissa of FINE) {
      const value = Number((mantissa * 10 ** power).toPrecision(3));
      if (value >= low && value <= high && (!whole || Number.isInteger(value))) found.push(value);
    }
  }
  return found;
}

const STEPS = {
  rate: decades(1e4, 1e10),
  delay: [0, ...decades(1e-4, 2)],
  duration: decades(0.1, 1e4),
  start: [0, ...decades(0.1, 1e3)],
  "warm-up": [0, ...decades(0.1, 1e3)],
  "least RTT": decades(1e-4, 10),
  propagation: [0, ...decades(1e-4, 10)],
  loss: [0, ...decades(1e-5, 0.5)],
  number: decades(1, 200, true),
  seed: Array.from({ length: 100 }, (_, index) => index + 1),
  pkt: [...Array.from({ length: 20 }, (_, index) => index + 1), ...decades(22, 1e5, true)],
  B: decades(1e3, 1e9),
  s: decades(1e-4, 100),
};

/** Gives the values of a control's slider: numbers, and null for "unlimited" or what else it is called. */
export function stepsOf(control) {
  const steps = STEPS[control.label] ?? STEPS[control.unit] ?? STEPS.number;
  if (!control.none) return steps;
  return control.label === "least RTT" ? [null, ...steps] : [...steps, null];
}

/** Gives the index of the step that is nearest to a value. */
export function nearest(steps, value) {
  if (value === null) return steps.indexOf(null);
  let best = 0;
  steps.forEach((step, index) => {
    if (step !== null && (steps[best] === null || Math.abs(step - value) < Math.abs(steps[best] - value))) best = index;
  });
  return best;
}
