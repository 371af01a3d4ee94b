/** The reference page: filters what is shown as the reader types, and copies code. The page is whole without it. */
const filter = document.getElementById('filter')
const articles = [...document.querySelectorAll('article')]

function show() {
  const words = filter.value.trim().toLowerCase().split(/\s+/)
  const shown = new Set()
  for (const article of articles) {
    const fits = words.every(word => article.dataset.words.includes(word))
    article.hidden = !fits
    if (fits) shown.add(article.id)
  }
  for (const entry of document.querySelectorAll('nav li')) entry.hidden = !shown.has(entry.dataset.for)
  for (const group of document.querySelectorAll('nav details')) group.hidden = !group.querySelector('li:not([hidden])')
  for (const section of document.querySelectorAll('main section')) {
    section.hidden = section.querySelector('article') !== null && !section.querySelector('article:not([hidden])')
  }
}

function addCopy(pre) {
  const button = document.createElement('button')
  button.className = 'copy'
  button.type = 'button'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(pre.querySelector('code').textContent)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 1500)
  })
  pre.append(button)
}

filter.addEventListener('input', show)
document.addEventListener('keydown', event => {
  if (event.key === '/' && document.activeElement !== filter) {
    event.preventDefault()
    filter.focus()
  } else if (event.key === 'Escape' && document.activeElement === filter) {
    filter.value = ''
    show()
  }
})
if (navigator.clipboard) for (const pre of document.querySelectorAll('pre')) addCopy(pre)
