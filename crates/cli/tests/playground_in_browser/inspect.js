// What must hold in every view of the page: a list of faults.
(() => {
  const faults = [];
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const pixels = new Map();
  const pixel = (colour) => {
    if (!pixels.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      pixels.set(colour, [...canvas.getImageData(0, 0, 1, 1).data]);
    }
    return pixels.get(colour);
  };
  const luminance = ([red, green, blue]) => {
    const linear = [red, green, blue].map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const background = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = pixel(getComputedStyle(one).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const isVisible = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getBoundingClientRect().width > 0;

  // Contrast of text at least 4.5, of large text 3
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(element) || !isVisible(element) || element.closest("textarea, option, script, title")) continue;
    seen.add(element);
    const style = getComputedStyle(element);
    const ink = pixel(element.closest("svg") ? style.fill : style.color);
    const [light, dark] = [luminance(ink), luminance(background(element))].sort((one, other) => other - one);
    const ratio = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) faults.push(`contrast ${ratio.toFixed(2)}: "${element.textContent.trim().slice(0, 40)}"`);
  }

  // Nothing is wider than the window
  const wider = document.documentElement.scrollWidth - innerWidth;
  if (wider > 0) {
    const guilty = [...document.querySelectorAll("main *")].find((one) => !one.closest(".source") && one.getBoundingClientRect().right > innerWidth + 1);
    faults.push(`wider than the window by ${wider} px: ${guilty?.outerHTML.slice(0, 120)}`);
  }

  // Everything that can be operated has a name
  for (const one of document.querySelectorAll("button, input, select, textarea")) {
    const name = one.getAttribute("aria-label") || one.labels?.[0]?.textContent || (one.tagName === "BUTTON" ? one.textContent : "");
    if (!name.trim()) faults.push(`no name: ${one.outerHTML.slice(0, 100)}`);
  }

  // Identifiers are unique, and references find their element
  const identifiers = [...document.querySelectorAll("[id]")].map((one) => one.id);
  for (const id of new Set(identifiers.filter((one, index) => identifiers.indexOf(one) !== index))) faults.push(`twice: #${id}`);
  for (const name of ["aria-controls", "aria-labelledby", "aria-describedby", "for"]) {
    for (const one of document.querySelectorAll(`[${name}]`)) if (!document.getElementById(one.getAttribute(name))) faults.push(`${name} of nothing: ${one.getAttribute(name)}`);
  }

  // Every plot draws something, with numbers
  for (const plot of document.querySelectorAll("svg.plot")) {
    const curves = [...plot.querySelectorAll(".curve, .mark, .point, .box")];
    if (/NaN|Infinity|undefined/.test(plot.outerHTML)) faults.push(`not a number: ${plot.getAttribute("aria-label")}`);
    if (!curves.some((one) => one.getBoundingClientRect().width + one.getBoundingClientRect().height > 1)) faults.push(`empty plot: ${plot.getAttribute("aria-label")}`);
  }

  // Markers of distributions are on their curves
  const onScreen = (path) => {
    let [x, y] = [0, 0];
    const matrix = path.getScreenCTM();
    const pieces = path.getAttribute("d").split("M").filter(Boolean);
    return pieces.map((piece) => {
      const numbers = piece.split(/[\sl]+/).filter(Boolean).map(Number);
      [x, y] = numbers;
      const points = [];
      for (let at = 2; at < numbers.length; at += 2) {
        [x, y] = [x + numbers[at], y + numbers[at + 1]];
        points.push(new DOMPoint(x, y).matrixTransform(matrix));
      }
      return points;
    });
  };
  const toSegment = (point, from, to) => {
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    const share = Math.min(1, Math.max(0, ((point.x - from.x) * dx + (point.y - from.y) * dy) / (dx * dx + dy * dy || 1)));
    return Math.hypot(point.x - from.x - share * dx, point.y - from.y - share * dy);
  };
  for (const plot of document.querySelectorAll(".row-3 svg.plot")) {
    const pieces = [...plot.querySelectorAll(".curves .curve")].flatMap(onScreen);
    for (const mark of plot.querySelectorAll("use.mark, circle.point")) {
      const box = mark.getBoundingClientRect();
      const middle = { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
      const distances = pieces.flatMap((points) => points.slice(1).map((to, index) => toSegment(middle, points[index], to)));
      if (Math.min(...distances) > 4) faults.push(`a marker ${Math.round(Math.min(...distances))} px from its curve: ${plot.getAttribute("aria-label")}`);
    }
  }
  return faults;
})()
