// Reading by keyboard: goes from answer to answer, and sends each mark as soon as it is given.
"use strict";

const answers = [...document.querySelectorAll("article")];
const unread = document.querySelector("#unread");
const singleKeys = document.querySelector("#keys");
const guide = document.querySelector("#guide");
let at = answers[0]; // the answer that is being read

const pointsOf = answer => answer.querySelector(".points");
const remarkOf = answer => answer.querySelector(".remark");
const typed = answer => ({ points: pointsOf(answer).value.trim(), comment: remarkOf(answer).value.trim() });
const isOpen = answer => JSON.stringify(typed(answer)) !== answer.dataset.kept; // something is typed and not saved
const tell = (answer, text, failed) => {
  const place = answer.querySelector(".told");
  place.textContent = text;
  place.classList.toggle("warn", Boolean(failed));
};

function keep(answer) {
  answer.dataset.kept = JSON.stringify(typed(answer));
}

function count() {
  document.querySelector("#read").textContent = answers.filter(one => one.dataset.state === "read").length;
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

// Saves what was typed. `now` says that a person asks for it: also after a save that was refused, since they have read
// why, and for points that stood there before.
async function save(answer, now) {
  if (answer.dataset.busy) return;
  const given = typed(answer);
  const again = now && (answer.dataset.refused || (given.points && answer.dataset.state !== "read"));
  if (!again && (!isOpen(answer) || answer.dataset.refused)) {
    if (now) tell(answer, given.points ? "saved before" : "no points yet");
    return;
  }
  answer.dataset.busy = "yes";
  tell(answer, "saving");
  try {
    const reply = await fetch(location.href, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ key: answer.id, seen: answer.dataset.seen, ...given }),
    });
    const said = await reply.json();
    if (said.now) {
      if (said.now.seen.split(" ")[0] !== answer.dataset.seen.split(" ")[0]) {
        answer.querySelector(".answer").innerHTML = said.now.html; // made safe by the server, as the page itself
      }
      answer.dataset.kept = JSON.stringify({ points: said.now.points, comment: said.now.comment });
      answer.dataset.seen = said.now.seen;
      answer.dataset.state = said.now.state;
      answer.querySelector(".state").textContent = said.now.said;
    }
    tell(answer, said.told, !reply.ok);
    if (reply.ok) {
      delete answer.dataset.refused;
      if (pointsOf(answer).value.trim() === given.points) pointsOf(answer).value = said.now.points; // "1,5" is 1.5
      answer.dataset.kept = JSON.stringify({ ...given, points: said.now.points });
    } else {
      answer.dataset.refused = "yes";
    }
  } catch (problem) {
    answer.dataset.refused = "yes";
    tell(answer, "not saved: the program that serves this page does not answer. Start it again, and copy what you typed.", true);
  } finally {
    delete answer.dataset.busy;
    count();
  }
  if (!answer.dataset.refused && isOpen(answer)) save(answer, false); // typed while it was being saved
}

for (const answer of answers) {
  keep(answer);
  answer.addEventListener("focusin", () => { at = answer; });
  answer.querySelector("button").addEventListener("click", () => save(answer, true));
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
  }
}

function inRemark(event, answer) {
  if (event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) {
    event.preventDefault();
    save(answer, true);
    answer.focus();
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
  } else if (event.key === "u") {
    unread.checked = !unread.checked;
    filter();
  } else if (event.key === "r") {
    if (document.activeElement === guide && at) at.focus(); else guide.focus();
  }
}

document.addEventListener("keydown", event => {
  const answer = event.target.closest("article");
  if (answer && event.target.matches(".points")) return event.ctrlKey || event.metaKey || event.altKey ? null : inPoints(event, answer);
  if (answer && event.target.matches(".remark")) return inRemark(event, answer);
  if (!singleKeys.checked || event.ctrlKey || event.metaKey || event.altKey) return null;
  return alone(event);
});

unread.addEventListener("change", filter);
window.addEventListener("beforeunload", event => { if (answers.some(isOpen)) event.preventDefault(); });
if (matchMedia("(max-width: 60rem)").matches) {
  for (const part of guide.querySelectorAll("details")) part.open = part === guide.querySelector("details");
}
at = answers.find(one => one.dataset.state !== "read") || at;
if (at) at.focus();
