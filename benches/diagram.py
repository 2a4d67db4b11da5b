"""What the pictures of benches have in common: colours on light and dark pages, horizontal lines with their values."""


def opening(width, height, light, dark):
    """The beginning of a picture, with rules of CSS for light pages and for dark ones."""
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13">
<style>
svg {{ background: #fff; color: #222 }}
text {{ fill: currentColor }}
.grid {{ stroke: #ddd }}
{light}
@media (prefers-color-scheme: dark) {{
  svg {{ background: #161b22; color: #ddd }}
  .grid {{ stroke: #3a414a }}
  {dark}
}}
</style>"""


def grid(left, right, down, end):
    """Five horizontal lines from zero to `end`; `down` gives the place of a value."""
    for tick in range(5):
        value = end * tick / 4
        yield f'<path class="grid" d="M{left} {down(value):.1f}H{right}"/>'
        yield f'<text x="{left - 8}" y="{down(value) + 4:.1f}" text-anchor="end">{value:g}</text>'
