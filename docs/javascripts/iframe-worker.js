// Browsers run no workers for pages opened from a folder, and the search of these pages wants one.
// There, the worker's script runs in a hidden frame instead. Nothing is loaded from a network.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      this.inside = new Promise((resolve) => {
        frame.addEventListener("load", () => {
          const inside = frame.contentWindow
          inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
          const script = inside.document.createElement("script")
          script.src = new URL(url, location.href)
          script.addEventListener("load", () => resolve(inside))
          inside.document.body.append(script)
        }, { once: true })
      })
      frame.srcdoc = "<!doctype html><body></body>"
      document.body.append(frame)
    }
    postMessage(data) {
      this.inside.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })))
    }
  }
}
