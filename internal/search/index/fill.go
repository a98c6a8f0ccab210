// Filling an empty index: of documents in memory or, when they are many, of runs in
// files (external sorting).

package index

import (
	"io"
	"iter"
)

// A RunFile is what a Fill moves documents to.
type RunFile interface {
	io.ReaderAt
	io.WriterAt
}

// Runs is where a Fill moves documents to that would take too much memory. The
// documents of a run are written as a snapshot, and the index is the runs, one after the
// other, until [Searcher.WriteSnapshot] merges them.
type Runs struct {
	Bytes int // that documents take in memory, about, before they become a run

	// New returns an empty file, which the index reads as long as it is used. After
	// an error, of New or of the file, documents stay in memory.
	New func() (RunFile, error)
}

// Fill puts documents into an empty index, as Apply does, for a fraction of the
// cost. Each document is used before the next is asked for. After one that is nil
// the index stays empty. With runs, if not nil, the index needs a bounded part of
// memory for the terms; ids must rise then, and the Data of documents is lost. It panics when
// the index is not empty, or an id comes twice.
func (x *Index) Fill(documents iter.Seq[*Document], runs *Runs) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.current.Load()
	if len(now.views) > 0 {
		panic("index: Fill of an index that is not empty")
	}
	f := filler{x: now, runs: runs}
	f.begin()
	for d := range documents {
		if d == nil {
			f.wait()
			return
		}
		f.add(d)
	}
	if to := f.end(); len(to.views) > 0 {
		x.current.Store(to)
	}
}

// filler fills an index.
type filler struct {
	x     *Searcher // the empty one
	b     *builder  // of the last documents
	runs  *Runs     // nil when all stays in memory, from now on
	last  uint64    // id of the document before
	views []view    // of the documents before those of b

	writing chan bool // receives when the last run that was begun is written, and whether it was; nil for none
}

func (f *filler) begin() {
	f.b = f.x.newBuilder()
	f.b.fills = true
}

// add adds a document.
func (f *filler) add(d *Document) {
	if f.runs == nil {
		f.b.add(d)
		return
	}
	if len(f.b.s.lens)+len(f.views) > 0 && d.ID <= f.last {
		panic("index: Fill with an id that came before")
	}
	f.last = d.ID
	f.b.add(d)
	if f.b.size() >= f.runs.Bytes {
		f.spill()
	}
}

// spill makes a run of the documents in memory. It is written while the next are added;
// one is written at a time.
func (f *filler) spill() {
	f.wait()
	if f.runs == nil {
		return
	}
	b, at := f.b, len(f.views)
	f.views = append(f.views, view{segment: b.s})
	f.writing = make(chan bool, 1)
	to := f.writing
	newFile, x := f.runs.New, f.x
	views := f.views
	go func() {
		s, err := writeRun(x, b, newFile)
		views[at].segment = s
		to <- err == nil
	}()
	f.begin()
}

// wait waits for the run that is being written.
func (f *filler) wait() {
	if f.writing == nil {
		return
	}
	if !<-f.writing {
		f.runs = nil
	}
	f.writing = nil
}

// writeRun returns the segment of a builder, in a file or, with an error, in memory.
func writeRun(x *Searcher, b *builder, newFile func() (RunFile, error)) (*segment, error) {
	f, err := newFile()
	if err != nil {
		return b.done(x.params.scale(b.s.counted, b.s.total)), err
	}
	s := b.sorted()
	run := &Searcher{params: x.params, seed: x.seed, views: []view{{segment: s}}, live: s.counted, total: s.total}
	size, err := run.WriteSnapshot(f, 0)
	if err == nil {
		var opened *Index
		opened, err = OpenSnapshot(f, size, x.params)
		if err == nil {
			return opened.Searcher().views[0].segment, nil
		}
	}
	return run.merge(run.views), err
}

// end returns the index of all documents.
func (f *filler) end() *Searcher {
	if f.runs != nil && len(f.views) > 0 && len(f.b.s.lens) > 0 {
		f.spill() // as a run it takes less than in memory
	}
	f.wait()
	to := &Searcher{params: f.x.params, seed: f.x.seed, views: f.views}
	for _, v := range to.views {
		to.live += v.counted
		to.total += v.total
	}
	if s := f.b.s; len(s.lens) > 0 {
		to.live += s.counted
		to.total += s.total
		f.b.done(to.scale())
		if !s.rising && s.byID.used > 0 {
			for n, id := range s.ids.all() {
				if first, _ := s.number(id); first != uint32(n) {
					panic("index: Fill with an id that came before")
				}
			}
		}
		to.views = append(to.views, view{segment: s})
	}
	return to
}

// sorted returns the segment with its lists, and without what only a search needs: it is
// to be written. The builder must not be used any more.
func (b *builder) sorted() *segment {
	s := b.s
	l := layOut(s)
	for number, items := range b.items {
		for _, it := range items {
			l.push(it.term, posting{doc: uint32(number), tf: it.tf})
		}
	}
	b.items = nil
	for n := range s.terms {
		if t := &s.terms[n]; t.many {
			s.lists[t.at].list = l.postings[l.next[n]-t.df : l.next[n]]
		}
	}
	s.rising = true // as ids must
	return s
}
