// Reading by keyboard: goes from answer to answer, and sends each mark as soon as it is given.
"use strict";

const answers = [...document.querySelectorAll("article")];
const unread = document.querySelector("#unread");
const singleKeys = document.querySelector("#keys");
const guide = document.querySelector("#guide");
const help = document.querySelector("#help");
let at = answers[0]; // the answer that is being read

const pointsOf = answer => answer.querySelector(".points");
const remarkOf = answer => answer.querySelector(".remark");
const undoOf = answer => answer.querySelector(".undo");
const typed = answer => ({ points: pointsOf(answer).value.trim(), comment: remarkOf(answer).value.trim() });
const isOpen = answer => JSON.stringify(typed(answer)) !== answer.dataset.kept; // something is typed and not saved
const members = new Map(answers.map(answer => [answer, JSON.parse(answer.dataset.answers)])); // key and seen of each
const before = new Map(); // the marks that the last save has replaced, by answer
let last = null; // the answer that was saved last
const recent = document.querySelector("#recent");
const OFFERED = 5; // comments that can be used again: the page knows those that it was loaded with, and newer ones
let comments = JSON.parse(recent.dataset.comments);
const report = (answer, text, failed) => {
  const place = answer.querySelector(".told");
  place.textContent = text;
  place.classList.toggle("warn", Boolean(failed));
};

function keep(answer) {
  answer.dataset.kept = JSON.stringify(typed(answer));
}

// Shows the comments that can be used again, each with its number. What is new in one comes first; one that is there
// keeps its number.
function offer(comment) {
  const more = comments.includes(comment) ? "" : comment.split("\n").filter(line => !comments.includes(line)).join("\n");
  if (more.trim()) comments = [more.trim(), ...comments].slice(0, OFFERED);
  recent.hidden = !comments.length;
  recent.querySelector("ol").replaceChildren(...comments.map(text => {
    const entry = document.createElement("li"), button = document.createElement("button");
    button.type = "button";
    button.textContent = text; // a text, never markup
    button.addEventListener("click", () => { if (at) use(at, text); });
    entry.append(button);
    return entry;
  }));
}

// Writes a comment that was given before into an answer, below what stands there, and saves it with the points.
function use(answer, comment) {
  const remark = remarkOf(answer), there = remark.value.trim();
  answer.focus();
  if (`\n${there}\n`.includes(`\n${comment}\n`)) return;
  remark.value = there ? `${there}\n${comment}` : comment;
  save(answer, false);
}

function count() {
  const read = answers.filter(one => one.dataset.state === "read");
  document.querySelector("#read").textContent = read.reduce((sum, one) => sum + members.get(one).length, 0);
}

function filter() {
  for (const one of answers) one.hidden = unread.checked && one.dataset.state === "read" && one !== at && !isOpen(one);
  document.querySelector("#none").hidden = !answers.length || answers.some(one => !one.hidden);
}

function go(step) {
  const shown = answers.filter(one => !one.hidden);
  const place = shown.indexOf(at) + step;
  if (!shown.length) return;
  at = shown[Math.max(0, Math.min(place, shown.length - 1))];
  filter();
  at.focus();
}

// Shows what the gradebook has now. Of equal answers those that were graded anew are others now, and are left out.
function show(answer, now) {
  const words = seen => seen.split(" ")[0];
  const known = new Map(members.get(answer).map(one => [one.key, one.seen]));
  if (now.length > 1) now = now.filter(one => words(one.seen) === words(known.get(one.key)));
  if (!now.length) return;
  if (now[0].html && words(now[0].seen) !== words(known.get(now[0].key))) {
    answer.querySelector(".answer").innerHTML = now[0].html; // made safe by the server, as the page itself
  }
  members.set(answer, now.map(one => ({ key: one.key, seen: one.seen })));
  answer.dataset.kept = JSON.stringify({ points: now[0].points, comment: now[0].comment });
  answer.dataset.state = now[0].state;
  answer.querySelector(".state").textContent = now[0].said;
}

// Sends marks, one for each of the equal answers; returns whether they are saved.
async function send(answer, marks) {
  answer.dataset.busy = "yes";
  report(answer, "saving");
  try {
    const reply = await fetch(location.href, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ marks }),
    });
    const result = await reply.json();
    if (result.now) show(answer, result.now);
    report(answer, result.told, !reply.ok);
    if (reply.ok) {
      delete answer.dataset.refused;
      before.set(answer, result.before);
      last = answer;
    } else {
      answer.dataset.refused = "yes";
    }
    return reply.ok;
  } catch (problem) {
    answer.dataset.refused = "yes";
    report(answer, "not saved: the program that serves this page does not answer. Start it again, and copy what you typed.", true);
    return false;
  } finally {
    delete answer.dataset.busy;
    count();
  }
}

// Saves what was typed. `now` says that a person asks for it: also after a save that was refused, since they have read
// why, and for points that stood there before.
async function save(answer, now) {
  if (answer.dataset.busy) return;
  const given = typed(answer);
  const again = now && (answer.dataset.refused || (given.points && answer.dataset.state !== "read"));
  if (!again && (!isOpen(answer) || answer.dataset.refused)) {
    if (now) report(answer, given.points ? "saved before" : "no points yet");
    return;
  }
  if (await send(answer, members.get(answer).map(one => ({ ...one, ...given })))) {
    const { points } = JSON.parse(answer.dataset.kept);
    if (pointsOf(answer).value.trim() === given.points) pointsOf(answer).value = points; // "1,5" is 1.5
    answer.dataset.kept = JSON.stringify({ ...given, points });
    offer(given.comment);
    undoOf(answer).hidden = false;
  }
  if (!answer.dataset.refused && isOpen(answer)) save(answer, false); // typed while it was being saved
}

// Takes the last mark of an answer back, of all equal ones at once: what they had before is there again.
async function undo(answer) {
  const old = new Map((before.get(answer) || []).map(one => [one.key, one]));
  const marks = members.get(answer).filter(one => old.has(one.key)).map(one => ({ ...old.get(one.key), seen: one.seen }));
  if (answer.dataset.busy || !marks.length) return;
  if (!await send(answer, marks)) return;
  before.delete(answer);
  undoOf(answer).hidden = true;
  const kept = JSON.parse(answer.dataset.kept);
  pointsOf(answer).value = kept.points;
  remarkOf(answer).value = kept.comment;
  keep(answer);
  report(answer, marks.length > 1 ? `taken back, for ${marks.length} equal answers` : "taken back");
  at = answer;
  filter();
  answer.focus();
}

for (const answer of answers) {
  keep(answer);
  answer.addEventListener("focusin", () => { at = answer; });
  answer.querySelector(".save").addEventListener("click", () => save(answer, true));
  undoOf(answer).addEventListener("click", () => undo(answer));
  for (const field of [pointsOf(answer), remarkOf(answer)]) field.addEventListener("change", () => save(answer, false));
}

function inPoints(event, answer) {
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (event.key === "Enter" || step) {
    event.preventDefault();
    save(answer, event.key === "Enter");
    step ? go(step) : answer.focus();
  } else if (event.key === "Escape") {
    pointsOf(answer).value = JSON.parse(answer.dataset.kept).points;
    answer.focus();
  } else if (event.key === "c") {
    event.preventDefault();
    remarkOf(answer).focus();
  } else if (event.key === "?") {
    event.preventDefault();
    help.focus();
  }
}

function inRemark(event, answer) {
  if (event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) {
    event.preventDefault();
    save(answer, true);
    answer.focus();
  }
}

function inRecent(event) {
  const comment = /^[1-5]$/.test(event.key) && comments[event.key - 1];
  if (at && (comment || event.key === "Escape" || event.key === "a")) {
    event.preventDefault();
    comment ? use(at, comment) : at.focus();
  }
}

function alone(event) {
  const step = { j: 1, k: -1 }[event.key] || (event.target === at && { ArrowDown: 1, ArrowUp: -1 }[event.key]);
  if (step) {
    event.preventDefault();
    if (event.target.closest("article")) go(step); else if (at) at.focus();
  } else if (/^[0-9.,]$/.test(event.key) && at) {
    pointsOf(at).focus(); // the digit arrives there
    pointsOf(at).select();
  } else if (event.key === "c" && at) {
    event.preventDefault();
    remarkOf(at).focus();
  } else if (event.key === "a" && at && !recent.hidden) {
    event.preventDefault();
    recent.focus();
  } else if (event.key === "u") {
    unread.checked = !unread.checked;
    filter();
  } else if (event.key === "z" && last) {
    undo(last);
  } else if (event.key === "r" || event.key === "?") {
    const place = event.key === "r" ? guide : help;
    if (document.activeElement === place && at) at.focus(); else place.focus();
  }
}

document.addEventListener("keydown", event => {
  const answer = event.target.closest("article");
  if (answer && event.target.matches(".points")) return event.ctrlKey || event.metaKey || event.altKey ? null : inPoints(event, answer);
  if (answer && event.target.matches(".remark")) return inRemark(event, answer);
  if (!singleKeys.checked || event.ctrlKey || event.metaKey || event.altKey) return null;
  return event.target.closest("#recent") ? inRecent(event) : alone(event);
});

offer("");
unread.addEventListener("change", filter);
window.addEventListener("beforeunload", event => { if (answers.some(isOpen)) event.preventDefault(); });
if (matchMedia("(max-width: 60rem)").matches) {
  for (const part of guide.querySelectorAll("details")) part.open = part === guide.querySelector("details");
}
at = answers.find(one => one.dataset.state !== "read") || at;
if (at) at.focus();
