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

// A change of the page waits while a person presses something, because a browser sends no click if the pressed element
// is replaced, or moves away, before the release. The other changes that wait are described at isInUse.

const unfinished = new Set(); // presses, keys, drags and requests after a click that have not ended
const postponed = new Map(); // changes that wait, by the name of what they change

// changePage calls change as soon as nothing is unfinished, and again later if it returns false. A change that
// waits is dropped if another one with the same name follows.
function changePage(name, change) {
  postponed.set(name, change);
  runPostponed();
}

function runPostponed() {
  for (const [name, change] of [...postponed]) {
    if (unfinished.size) return;
    if (postponed.get(name) !== change) continue;
    postponed.delete(name);
    if (change() === false && !postponed.has(name)) postponed.set(name, change);
  }
}

// finish ends something unfinished after a delay in milliseconds.
function finish(what, delay = 0) {
  setTimeout(() => { unfinished.delete(what); runPostponed(); }, delay);
}

const finishAll = (prefix) => { for (const what of unfinished) if (what.startsWith(prefix)) finish(what); };
const listen = (type, listener) => addEventListener(type, listener, { capture: true, passive: true });

// The click follows the release in the same task, except after a touch: then it can follow 300 ms later.
listen('pointerdown', (e) => { if (e.button !== 2) unfinished.add('press ' + e.pointerId); });
listen('pointerup', (e) => finish('press ' + e.pointerId, e.pointerType === 'mouse' ? 0 : 350));
listen('pointercancel', (e) => finish('press ' + e.pointerId));
listen('contextmenu', () => finishAll('press')); // the menu takes the release
listen('dragstart', () => unfinished.add('drag'));
listen('dragend', () => finish('drag'));
const presses = (e) => e.key === 'Enter' || e.key === ' ';
listen('keydown', (e) => {
  if (presses(e)) unfinished.add('key'); else unfinished.delete('key'); // the release is lost if a dialog takes it
});
listen('keyup', (e) => { if (presses(e)) finish('key'); });
listen('blur', (e) => { if (e.target === window) { finishAll('press'); finish('key'); } });
for (const type of ['focusout', 'change', 'reset', 'selectionchange']) listen(type, () => finish(type));

// A pointer that moves is about to press something.
let pointerMoved = -Infinity;
const aiming = 200; // milliseconds between the last move and the press
listen('pointermove', (e) => {
  if (e.pointerType !== 'mouse') return;
  if (!e.buttons) { finishAll('press'); finish('drag'); } // the release was outside the window
  if (!e.movementX && !e.movementY) return;
  pointerMoved = performance.now();
  if (postponed.size) finish('move', aiming + 10);
});

// isEdited reports whether a person has changed a field, and has not sent it.
function isEdited(field) {
  if (field.matches('[type=checkbox], [type=radio]')) return field.checked !== field.defaultChecked;
  if (!field.matches('select')) return !field.matches('[type=hidden], button') && field.value !== field.defaultValue;
  const options = [...field.options];
  return options.some((o) => o.selected !== (options.some((o) => o.defaultSelected) ? o.defaultSelected : o.index === 0));
}

const textFields = 'input:not([type=checkbox], [type=radio], [type=submit], [type=button]), textarea, select';

// isInUse reports whether a person would lose something if a part was replaced: a field with the focus, edited fields,
// details of a row, or selected text.
function isInUse(part) {
  if (part.querySelector('[data-dirty], .inline') || [...part.querySelectorAll('input, textarea, select')].some(isEdited)) return true;
  const selection = getSelection();
  return !selection.isCollapsed && selection.rangeCount > 0 && selection.getRangeAt(0).intersectsNode(part);
}

// findCounterpart returns the element of the new part that shows the same as an element of the old part.
function findCounterpart(e, old, fresh) {
  if (e.id) return fresh.querySelector('#' + CSS.escape(e.id));
  const href = (x) => x?.getAttribute('href');
  const describe = (x) => {
    const row = href(x.closest('li, tr')?.querySelector('a[href]'));
    const text = x.matches('details') ? !row && x.querySelector('summary')?.textContent : !x.querySelector('a[href]') && x.textContent;
    return JSON.stringify([x.closest('[id]')?.id, row, href(x.closest('a[href]') ?? x.querySelector('a[href]')), text,
      x.getAttribute('name'), x.getAttribute('value'), x.form?.getAttribute('action')]);
  };
  const wanted = describe(e);
  const same = (part) => [...part.querySelectorAll(e.localName)].filter((x) => describe(x) === wanted);
  return same(fresh)[same(old).indexOf(e)];
}

const received = new WeakMap(); // parts, with their markup as the server sent it
for (const part of document.querySelectorAll('[id][data-live]')) received.set(part, part.innerHTML);

// replacePart replaces a part of the page. Open details, the current row and the focus are kept.
function replacePart(old, fresh) {
  received.set(fresh, fresh.innerHTML);
  for (const d of old.querySelectorAll('details')) findCounterpart(d, old, fresh)?.toggleAttribute('open', d.open);
  const row = old.querySelector('.current');
  if (row) findCounterpart(row, old, fresh)?.classList.add('current');
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const target = focused && (findCounterpart(focused, old, fresh) ?? fresh.querySelector('#' + CSS.escape(focused.closest('[id]').id)));
  old.replaceWith(fresh);
  addCopyButtons(fresh);
  target?.focus({ preventScroll: true });
}

// findAnchor returns an element that shall not move in the window: the element that is about to be pressed, or the first
// visible element. A page that is not scrolled has none, so that new rows above are seen.
function findAnchor() {
  const pressable = document.querySelector(':is(a, button, summary, label, input):hover');
  if (pressable || scrollY === 0) return pressable;
  return [...document.querySelectorAll('main :is([id], a, li, p, h2, h3, tr, pre)')].find((e) => e.getClientRects().length && e.getBoundingClientRect().top >= 0);
}

// replaceParts replaces the parts that match the selector by those of another document, except parts in use. With
// force, only the focus in a field keeps a part. It returns false if a part must be replaced later.
function replaceParts(doc, selector, force = false) {
  if (performance.now() - pointerMoved < aiming) { finish('move', aiming + 10); return false; }
  let anchor = findAnchor();
  const top = anchor?.getBoundingClientRect().top;
  let complete = true;
  for (const old of document.querySelectorAll(selector)) {
    const fresh = old.id && doc.getElementById(old.id);
    if (!fresh || received.get(old) === fresh.innerHTML) continue;
    const isTyping = old.contains(document.activeElement) && document.activeElement.matches(textFields);
    if (isTyping || (!force && isInUse(old))) { complete = false; continue; }
    const next = document.importNode(fresh, true);
    if (anchor && old.contains(anchor)) anchor = findCounterpart(anchor, old, next);
    replacePart(old, next);
  }
  if (anchor?.isConnected) scrollBy({ top: anchor.getBoundingClientRect().top - top, behavior: 'instant' });
  return complete;
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
    const url = location.href;
    try {
      const doc = await fetched(url);
      changePage('live parts', () => {
        if (location.href !== url) { refresh(); return; } // the results of another query are shown
        return replaceParts(doc, '[data-live]');
      });
      changePage('warning', () => warn(''));
    } catch (err) {
      changePage('warning', () => warn(reason(err)));
    }
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
        const doc = await fetched(url, last.signal);
        changePage('results', () => {
          if (!replaceParts(doc, form.dataset.typed, true)) return false;
          history.replaceState(null, '', url);
          say(document.querySelector('[data-count]')?.dataset.count ?? '');
        });
        changePage('warning', () => warn(''));
      } catch (err) {
        if (err.name === 'AbortError') return; // a later query took its place
        changePage('results', () => {
          const part = document.querySelector(form.dataset.typed);
          part?.replaceChildren();
          received.delete(part);
        });
        changePage('warning', () => warn(reason(err)));
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
  if (open) { open.remove(); runPostponed(); return; }
  const request = 'request for ' + link.href;
  unfinished.add(request); // otherwise the row could be replaced before it gets the part
  const part = await fetched(link.href).then((doc) => doc.querySelector(link.dataset.inline), () => null);
  finish(request);
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
function addCopyButtons(part) {
  for (const pre of part.querySelectorAll('.prose pre')) {
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
}
addCopyButtons(document);

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
