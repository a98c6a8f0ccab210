// What script adds to a page that is whole without it: parts that follow the memory,
// results while a query is typed, and keys.

const policy = window.trustedTypes?.createPolicy('oxbow', { createHTML: (s) => s }) ?? { createHTML: (s) => s };

// fetched returns the document of a page of this server.
async function fetched(url, signal) {
  const answer = await fetch(url, { signal, headers: { Accept: 'text/html' } });
  if (answer.status === 401) throw new Error('You are signed out. Open the pages again with oxbow ui.');
  if (!answer.ok) throw new Error('The server could not answer. Load the page again.');
  return new DOMParser().parseFromString(policy.createHTML(await answer.text()), 'text/html');
}

// swap puts the elements of another document in the place of those of the same id,
// unless a person is in the middle of one. With force, ticks do not keep the old ones.
function swap(doc, selector, force = false) {
  for (const old of document.querySelectorAll(selector)) {
    const fresh = old.id && doc.getElementById(old.id);
    if (!fresh || old.innerHTML === fresh.innerHTML) continue;
    if (old.contains(document.activeElement) && document.activeElement.matches('input, textarea, select')) continue;
    if (!force && old.querySelector('[data-dirty], :checked, .inline')) continue;
    for (const d of old.querySelectorAll('details[open][id]')) fresh.querySelector('#' + CSS.escape(d.id))?.setAttribute('open', '');
    const at = old.contains(document.activeElement) ? document.activeElement.closest('[id]')?.id : null;
    old.replaceWith(document.adoptNode(fresh));
    if (at) document.getElementById(at)?.focus();
  }
}

function say(text) { document.getElementById('said').textContent = text; }

// warn shows why the page may not be as the memory is, until warn('') takes that away.
function warn(text) {
  let box = document.getElementById('away');
  if (!text) { box?.remove(); return; }
  if (!box) {
    box = document.createElement('p');
    box.id = 'away';
    box.className = 'notice warn';
    box.setAttribute('role', 'alert');
    document.getElementById('main').prepend(box);
  }
  if (box.textContent !== text) box.textContent = text;
}

// reason says why a request failed; the browser itself has no words for a server that is gone.
const reason = (err) => err instanceof TypeError ? 'The server cannot be reached. This page may be out of date.' : err.message;

// Live parts are read again when the memory changed.
const events = document.querySelector('meta[name=oxbow-live]')?.content;
if (events) {
  let busy = false, again = false;
  const refresh = async () => {
    if (busy) { again = true; return; }
    busy = true;
    try { swap(await fetched(location.href), '[data-live]'); warn(''); } catch (err) { warn(reason(err)); }
    busy = false;
    if (again) { again = false; refresh(); }
  };
  // A browser has few connections to one server: a page that is not looked at has none.
  let source;
  const follow = () => {
    if (document.hidden) { source?.close(); source = null; return; }
    if (source) return;
    source = new EventSource(events);
    source.addEventListener('change', refresh);
    source.addEventListener('reset', refresh);
    let lost = false;
    source.addEventListener('error', () => { if (!lost && !document.hidden) { lost = true; refresh(); } });
    source.addEventListener('open', () => { if (lost) { lost = false; refresh(); } });
  };
  follow();
  document.addEventListener('visibilitychange', () => { follow(); if (!document.hidden) refresh(); });
  addEventListener('pagehide', () => { source?.close(); source = null; });
  addEventListener('pageshow', follow);
}

// A form with data-typed is sent while it is typed in, and its results come in place.
for (const form of document.querySelectorAll('form[data-typed]')) {
  let timer, last;
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      last?.abort();
      last = new AbortController();
      const url = new URL(form.action);
      url.search = new URLSearchParams(new FormData(form)).toString();
      try {
        swap(await fetched(url, last.signal), form.dataset.typed, true);
        warn('');
        history.replaceState(null, '', url);
        say(document.querySelector('[data-count]')?.dataset.count ?? '');
      } catch (err) {
        if (err.name === 'AbortError') return; // a later query took its place
        document.querySelector(form.dataset.typed)?.replaceChildren();
        warn(reason(err));
      }
    }, 120);
  });
}

// A link with data-inline shows that part of the page it leads to below itself.
document.addEventListener('click', async (e) => {
  const link = e.target.closest('a[data-inline]');
  if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  const row = link.closest('.row');
  const open = row.querySelector(':scope > .inline');
  link.setAttribute('aria-expanded', String(!open));
  if (open) { open.remove(); return; }
  const part = (await fetched(link.href)).querySelector(link.dataset.inline);
  if (!part) { location.href = link.href; return; }
  part.removeAttribute('id');
  part.classList.add('inline');
  row.append(document.adoptNode(part));
});

// A box with data-all ticks all rows of its form.
document.addEventListener('change', (e) => {
  if (!e.target.matches('[data-all]')) return;
  for (const box of e.target.form.querySelectorAll('input[name=name]')) box.checked = e.target.checked;
});

// A file that is too large is named before it is sent.
document.addEventListener('change', (e) => {
  const max = Number(e.target.dataset?.max);
  if (!max) return;
  const large = [...e.target.files].some((file) => file.size > max);
  e.target.setCustomValidity(large ? 'The file is larger than 4 MB. To import it, run in a terminal: oxbow import FILE' : '');
  e.target.reportValidity();
});

// Code can be copied in one click.
for (const pre of document.querySelectorAll('.prose pre')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    try { await navigator.clipboard.writeText(pre.textContent); button.textContent = 'Copied'; } catch { getSelection().selectAllChildren(pre); }
  });
  const box = document.createElement('div');
  box.className = 'code';
  pre.replaceWith(box);
  box.append(pre, button);
}

// What was typed into a form is not lost by leaving the page.
document.addEventListener('input', (e) => e.target.closest('form[data-guard]')?.setAttribute('data-dirty', ''));
document.addEventListener('submit', (e) => e.target.removeAttribute('data-dirty'));
addEventListener('beforeunload', (e) => { if (document.querySelector('form[data-dirty]')) e.preventDefault(); });

// The row after the last decision is current already.
if (location.hash) document.querySelector('[data-keys] > .current')?.querySelector('a, button, summary')?.focus({ preventScroll: true });

// Keys: an element with data-key is focused when it is a field, and pressed when it is
// not. In a list with data-keys, j and k move, and a key is that of the row's own.
const typing = (e) => e.target.closest('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]');
document.addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === 'Escape' && typing(e)) { e.target.blur(); return; }
  if (typing(e)) return;
  const list = document.querySelector('[data-keys]');
  if (list && (e.key === 'j' || e.key === 'k')) {
    const rows = [...list.children].filter((row) => !row.matches('.group'));
    const now = rows.findIndex((row) => row.classList.contains('current'));
    const next = Math.min(rows.length - 1, Math.max(0, now + (e.key === 'j' ? 1 : -1)));
    rows[now]?.classList.remove('current');
    rows[next]?.classList.add('current');
    rows[next]?.querySelector('a, button, summary')?.focus();
    rows[next]?.scrollIntoView({ block: 'nearest' });
    e.preventDefault();
    return;
  }
  const key = CSS.escape(e.key);
  let head = document.querySelector('.current')?.previousElementSibling;
  while (head && !head.matches('.group')) head = head.previousElementSibling;
  const hit = document.querySelector(`.current [data-key="${key}"]`) ?? head?.querySelector(`[data-key="${key}"]`) ?? document.querySelector(`[data-key="${key}"]:not([data-keys] *)`) ;
  if (!hit) return;
  e.preventDefault();
  if (hit.matches('input, textarea')) { hit.focus(); hit.select(); } else { hit.click(); }
});
