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
  model.send({ opened: true });
  return () => {
    model.off("msg:custom", fromKernel);
    removeEventListener("message", fromFrame);
  };
}

export default { render };
