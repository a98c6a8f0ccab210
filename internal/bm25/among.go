// This file holds the search among few documents that are named.

package bm25

// A term is looked up in one document in the time that amongWorth postings take
// to add up. Of all documents, one in amongShare is about where going through
// the postings and asking who is allowed begins to be as good.
const (
	amongWorth = 4
	amongShare = 64
)

// among offers those of the documents named that hold a term of the query. It
// reports false, and offers nothing, when they are so many that it is better to
// go through the postings.
func (x *Index) among(q *query, s scale, ids []uint64, offer func(number uint32, score float64) bool) (done bool) {
	postings := 0
	for i := range q.cursors {
		postings += q.cursors[i].count()
	}
	if len(ids)*len(q.cursors)*amongWorth > postings || len(ids) > max(x.living/amongShare, amongShare) {
		return false
	}
	for _, id := range ids {
		number, ok := x.number(id)
		if !ok {
			continue
		}
		score, dl := 0.0, x.lens[number]
		for i := range q.cursors { // in the order of the terms, as everywhere
			c := &q.cursors[i]
			if tf := c.tf(number); tf > 0 {
				score += s.score(c.gain, uint32(tf), dl)
			}
		}
		if score > 0 {
			offer(number, score)
		}
	}
	return true
}
