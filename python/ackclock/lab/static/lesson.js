// A lesson: its text, what to try, and questions with answers to unfold.

import { byId, element } from "./dom.js";

/** Shows a lesson; `apply` gets the fields that a step changes, `restart` the lesson's scenario. */
export function showLesson(lesson, { apply, restart }) {
  const text = element("div", { class: "prose" });
  text.innerHTML = lesson.text; // Markdown of the package, made into HTML by the server; the content policy allows no script
  const begin = element("button", { type: "button", class: "try", onclick: () => restart(lesson) }, "Run it as it is");
  const steps = lesson.try.map((step, index) => {
    const words = element("div", { class: "prose", id: `step-${index + 1}` });
    words.innerHTML = step.text;
    const attributes = {
      type: "button",
      class: "try",
      "data-try": index,
      "aria-label": `Try it: step ${index + 1}${titleOf(words)}`,
      "aria-describedby": words.id,
      onclick: () => apply(lesson, step),
    };
    return element("li", {}, words, element("button", attributes, "Try it"));
  });
  const questions = lesson.questions.map((one) => {
    const question = element("summary", {});
    question.innerHTML = one.question.replace(/^<p>|<\/p>\s*$/g, "");
    const answer = element("div", { class: "prose" });
    answer.innerHTML = one.answer;
    return element("details", { class: "question" }, question, answer);
  });
  byId("panel-lesson").replaceChildren(
    element("h2", {}, lesson.title),
    text,
    begin,
    element("h3", {}, "What to try"),
    element(
      "p",
      { class: "note" },
      "Each step begins with the lesson's scenario again. Pin a run before a step to see both.",
    ),
    element("ol", { class: "try-list" }, ...steps),
    element("h3", {}, "Questions"),
    ...questions,
  );
}

/** Gives the words in bold with which a step begins, for the name of its button; nothing if it has none. */
function titleOf(words) {
  const title = words.querySelector("strong")?.textContent.replace(/[.:]$/, "");
  return title ? `, ${title}` : "";
}

export function noLesson() {
  byId("panel-lesson").replaceChildren(
    element("h2", {}, "Lesson"),
    element("p", {}, "Choose a lesson at the top of the page."),
  );
}
