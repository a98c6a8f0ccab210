// Finds sections that contain all words of the query. Words in a heading count most.
const query = document.getElementById("query")
const hits = document.getElementById("hits")

function scoreItem(item, words) {
	const heading = (item.page + " " + item.heading).toLowerCase()
	const text = item.text.toLowerCase()
	let score = 0
	for (const word of words) {
		const count = text.split(word).length - 1
		if (!count && !heading.includes(word)) return 0
		score += Math.min(count, 5) + (heading.includes(word) ? 10 : 0)
	}
	return score
}

function extract(text, words) {
	const at = Math.max(0, Math.min(...words.map(w => text.toLowerCase().indexOf(w)).filter(i => i >= 0)) - 60)
	return text.slice(Number.isFinite(at) ? at : 0).slice(0, 200)
}

function search() {
	const words = query.value.toLowerCase().split(/\s+/).filter(Boolean)
	hits.replaceChildren()
	hits.hidden = words.length === 0
	if (hits.hidden) return
	const found = items.map(item => [scoreItem(item, words), item]).filter(([score]) => score > 0)
	found.sort((a, b) => b[0] - a[0])
	for (const [, item] of found.slice(0, 12)) {
		const line = document.createElement("li")
		const link = document.createElement("a")
		link.href = document.body.dataset.root + item.address
		link.textContent = item.page === item.heading ? item.page : item.page + ": " + item.heading
		const text = document.createElement("p")
		text.textContent = extract(item.text, words)
		line.append(link, text)
		hits.append(line)
	}
	if (found.length === 0) hits.append("No section contains all these words.")
}

query.addEventListener("input", search)
