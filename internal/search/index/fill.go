// This file fills an empty index. If the documents are many, it writes sorted parts
// (runs) to files, as in external sorting.

package index

import (
	"io"
	"iter"
)

// A RunFile is a file for the documents of a run.
type RunFile interface {
	io.ReaderAt
	io.WriterAt
}

// Runs are the options for an index that is larger than the memory for it. When the documents in
// memory reach a size, they are moved to a file, which is called a run. The index consists of all
// runs until [Searcher.WriteSnapshot] merges them.
type Runs struct {
	Bytes int // approximate size of the documents in memory at which they are written as a run

	// New returns an empty file. The index reads the file as long as the index is used. If
	// New or the file returns an error, the documents stay in memory.
	New func() (RunFile, error)
}

// Fill adds documents to an empty index. The result is the same as with Apply, but Fill is
// much faster. Each document is used only until the next is requested. A nil document
// cancels the operation, and the index stays empty. If runs is not nil, memory use is
// bounded, but IDs must ascend and the Data of documents is lost. Fill panics if the index
// is not empty or an ID occurs twice.
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

// filler has the state of a Fill.
type filler struct {
	x     *Searcher // the empty searcher
	b     *builder  // builder of the last documents
	runs  *Runs     // nil if all further documents stay in memory
	last  uint64    // ID of the previous document
	views []view    // segments of the documents that were added before those in b

	writing chan bool // receives whether the last run was written successfully (nil if no run is being written)
}

func (f *filler) begin() {
	f.b = f.x.newBuilder()
	f.b.buildsWhole = true
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

// spill writes the documents in memory as a run, while further documents are added. At
// most one run is written at a time.
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

// wait waits until the run that is being written is complete.
func (f *filler) wait() {
	if f.writing == nil {
		return
	}
	if !<-f.writing {
		f.runs = nil
	}
	f.writing = nil
}

// writeRun writes the documents of a builder to a new file and returns them as a segment
// that reads the file. If that fails, it returns the error and a segment in memory.
func writeRun(x *Searcher, b *builder, newFile func() (RunFile, error)) (*segment, error) {
	f, err := newFile()
	if err != nil {
		return b.finishSegment(x.params.scale(b.s.counted, b.s.total)), err
	}
	s := b.sortedSegment()
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

// end returns the searcher with all documents.
func (f *filler) end() *Searcher {
	hasRuns := f.runs != nil && len(f.views) > 0
	if hasRuns && len(f.b.s.lens) > 0 {
		f.spill() // write another run, because a run needs less memory than a segment
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
		f.b.finishSegment(to.scale())
		if !s.isAscending && s.byID.used > 0 {
			for n, id := range s.ids.all() {
				if first, _ := s.documentNumber(id); first != uint32(n) {
					panic("index: Fill with an id that came before")
				}
			}
		}
		to.views = append(to.views, view{segment: s})
	}
	return to
}

// sortedSegment returns the segment with its posting lists, but without the data that only a
// search needs. It is used to write the segment. The builder must not be used afterwards.
func (b *builder) sortedSegment() *segment {
	s := b.s
	l := layOut(s)
	for number, items := range b.items {
		for _, it := range items {
			l.push(it.term, posting{doc: uint32(number), tf: it.tf})
		}
	}
	b.items = nil
	for n := range s.terms {
		if t := &s.terms[n]; t.hasList {
			s.lists[t.at].list = l.postings[l.next[n]-t.df : l.next[n]]
		}
	}
	s.isAscending = true // Fill with runs requires ascending IDs
	return s
}
