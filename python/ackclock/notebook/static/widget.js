// The widget: a frame that holds the page, so that neither's styles touch the other's, and messages between it and the kernel.

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts";
  frame.title = "ackclock: controls, path and curves";
  Object.assign(frame.style, { width: "100%", height: "900px", border: "0", display: "block" });
  let begins = null;
  const fromKernel = (message) => {
    if (message.page !== undefined) {
      begins = message.toml;
      frame.srcdoc = message.page;
    } else frame.contentWindow?.postMessage(message, "*");
  };
  const fromFrame = ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    if (data.height) frame.style.height = `${Math.min(4000, data.height + 8)}px`;
    else if (data.loaded) frame.contentWindow.postMessage({ begins }, "*");
    else if (data.asks) model.send(data);
  };
  model.on("msg:custom", fromKernel);
  addEventListener("message", fromFrame);
  el.append(frame);
  const stopFollowing = followTheme(frame);
  model.send({ opened: true });
  return () => {
    stopFollowing();
    model.off("msg:custom", fromKernel);
    removeEventListener("message", fromFrame);
  };
}

/** Makes the page in a frame dark where the notebook is dark, now and when its theme changes; gives what ends that. */
function followTheme(frame) {
  const follow = () => {
    frame.style.colorScheme = isDark(frame) ? "dark" : "light";
  };
  const themes = new MutationObserver(() => {
    follow();
    setTimeout(follow, 500); // a theme's style sheet comes after its name
  });
  for (const root of [document.documentElement, document.body]) themes.observe(root, { attributes: true });
  requestAnimationFrame(follow); // once the frame is a part of the notebook
  return () => themes.disconnect();
}

/** Says whether the ground on which an element lies is dark. */
function isDark(element) {
  for (let one = element.parentElement; one; one = one.parentElement) {
    const [red, green, blue, opacity = 1] = getComputedStyle(one).backgroundColor.match(/[\d.]+/g).map(Number);
    if (opacity > 0.5) return 0.3 * red + 0.6 * green + 0.1 * blue < 128;
  }
  return false;
}

export default { render };
