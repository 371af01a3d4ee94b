/** Loaded before the stylesheet, on its own: the reader's choice of light or dark holds at the first paint. */
const chosen = localStorage.getItem('theme')
if (chosen) document.documentElement.dataset.theme = chosen
