// Copying commands and scenarios, and printing what is folded.
(() => {
  "use strict";
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((details) => (details.open = true));
  });
  for (const button of document.querySelectorAll(".copyable button")) {
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = "Selected";
      }
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
  }
})();
