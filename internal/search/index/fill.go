// This file fills an empty index. If there are many documents, it writes sorted parts of the index, called runs, to
// files, as in external sorting.

package index

import (
	"io"
	"iter"
)

// A DocumentRunFile is a file to which [Index.FillEmptyIndex] writes some documents to save memory. The index then
// reads them from the file.
type DocumentRunFile interface {
	io.ReaderAt
	io.WriterAt
}

// DocumentRunOptions limit the memory of [Index.FillEmptyIndex]. When the size of the documents in memory reaches
// MaxBytes, FillEmptyIndex writes the documents to a file. These documents in a file are called a run. The index
// consists of all runs until [Searcher.WriteSnapshot] merges them.
type DocumentRunOptions struct {
	MaxBytes int // approximate size in bytes of the documents in memory at which FillEmptyIndex writes them to a file

	// NewFile returns an empty file for documents. The file must stay open and unchanged as long as the index is used,
	// because the index reads it. If NewFile or a write fails, the documents stay in memory.
	NewFile func() (DocumentRunFile, error)
}

// FillEmptyIndex adds documents to an empty index. The result is the same as with Apply, but FillEmptyIndex is much
// faster. Each document is used only until the next one is requested. A nil document cancels the operation, and the
// index stays empty.
//
// If runOptions is not nil, FillEmptyIndex writes the documents to files (see [DocumentRunOptions]) when they need too
// much memory. IDs must then ascend, and the Data of the documents is lost. FillEmptyIndex panics if the index is not
// empty or if an ID occurs twice.
func (x *Index) FillEmptyIndex(documents iter.Seq[*Document], runOptions *DocumentRunOptions) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.current.Load()
	if len(now.views) > 0 {
		panic("index: Fill of an index that is not empty")
	}
	f := indexFillState{searcher: now, runOptions: runOptions}
	f.startBuilder()
	for d := range documents {
		if d == nil {
			f.waitForDocumentRun()
			return
		}
		f.addDocument(d)
	}
	if to := f.newFilledSearcher(); len(to.views) > 0 {
		x.current.Store(to)
	}
}

// indexFillState is the state of one FillEmptyIndex call.
type indexFillState struct {
	searcher *Searcher // searcher from before FillEmptyIndex, when the index was still empty
	builder  *builder  // contains the documents that are not yet written to a file
	// when to write documents to a file, and how to create it (nil if all further documents stay in memory)
	runOptions *DocumentRunOptions
	lastID     uint64 // ID of the document that was added last
	// groups of documents that were written to files so far, or are still in memory because writing failed
	finishedViews []segmentView

	// receives whether the file that is being written was successful. The file contains a run, that is, a group of
	// documents. The channel is nil if no file is being written.
	runWriteResult chan bool
}

func (f *indexFillState) startBuilder() {
	f.builder = f.searcher.newBuilder()
	f.builder.buildsWholeIndex = true
}

// addDocument adds the next document. If the documents in memory have reached the maximum size, it starts to write
// them to a file.
func (f *indexFillState) addDocument(d *Document) {
	if f.runOptions == nil {
		f.builder.addDocument(d)
		return
	}
	if len(f.builder.segment.docLengths)+len(f.finishedViews) > 0 && d.ID <= f.lastID {
		panic("index: Fill with an id that came before")
	}
	f.lastID = d.ID
	f.builder.addDocument(d)
	if f.builder.approxSize() >= f.runOptions.MaxBytes {
		f.startWritingRun()
	}
}

// startWritingRun starts a goroutine that writes the documents in memory to a file, which is called a run. Meanwhile,
// further documents can be added. startWritingRun first waits until the previous run is written. It does nothing more
// if the index is built without files.
func (f *indexFillState) startWritingRun() {
	f.waitForDocumentRun()
	if f.runOptions == nil {
		return
	}
	b, at := f.builder, len(f.finishedViews)
	f.finishedViews = append(f.finishedViews, segmentView{segment: b.segment})
	f.runWriteResult = make(chan bool, 1)
	to := f.runWriteResult
	newFile, x := f.runOptions.NewFile, f.searcher
	views := f.finishedViews
	go func() {
		s, err := writeDocumentRun(x, b, newFile)
		views[at].segment = s
		to <- err == nil
	}()
	f.startBuilder()
}

// waitForDocumentRun waits until the file that is being written is complete. It returns at once if no file is being
// written. If the file could not be written, waitForDocumentRun sets runOptions to nil, so that no further file is
// written.
func (f *indexFillState) waitForDocumentRun() {
	if f.runWriteResult == nil {
		return
	}
	if !<-f.runWriteResult {
		f.runOptions = nil
	}
	f.runWriteResult = nil
}

// writeDocumentRun writes the builder's documents to a new file. It returns a segment (a part of the index) that reads
// the documents from the file. If the file cannot be written, it returns the error and a segment that contains the
// documents in memory.
func writeDocumentRun(x *Searcher, b *builder, newFile func() (DocumentRunFile, error)) (*segment, error) {
	f, err := newFile()
	if err != nil {
		return b.finishSegment(x.params.newScale(b.segment.scoredDocumentCount, b.segment.totalDocumentLength)), err
	}
	s := b.sortedSegment()
	run := &Searcher{
		params:              x.params,
		seed:                x.seed,
		views:               []segmentView{{segment: s}},
		scoredDocumentCount: s.scoredDocumentCount,
		totalLength:         s.totalDocumentLength,
	}
	size, err := run.WriteSnapshot(f, 0)
	if err == nil {
		var opened *Index
		opened, err = OpenSnapshot(f, size, x.params)
		if err == nil {
			return opened.Searcher().views[0].segment, nil
		}
	}
	return run.mergeViews(run.views), err
}

// newFilledSearcher returns a searcher with all documents. No document can be added afterwards.
func (f *indexFillState) newFilledSearcher() *Searcher {
	hasRuns := f.runOptions != nil && len(f.finishedViews) > 0
	if hasRuns && len(f.builder.segment.docLengths) > 0 {
		// Write the last documents to a file as well, because the index needs less memory if it reads them from a
		// file.
		f.startWritingRun()
	}
	f.waitForDocumentRun()
	to := &Searcher{params: f.searcher.params, seed: f.searcher.seed, views: f.finishedViews}
	for _, v := range to.views {
		to.scoredDocumentCount += v.scoredDocumentCount
		to.totalLength += v.totalDocumentLength
	}
	if s := f.builder.segment; len(s.docLengths) > 0 {
		to.scoredDocumentCount += s.scoredDocumentCount
		to.totalLength += s.totalDocumentLength
		f.builder.finishSegment(to.currentBM25Scale())
		if !s.isAscending && s.byID.usedSlots > 0 {
			for n, id := range s.ids.allValues() {
				if first, _ := s.documentNumber(id); first != uint32(n) {
					panic("index: Fill with an id that came before")
				}
			}
		}
		to.views = append(to.views, segmentView{segment: s})
	}
	return to
}

// sortedSegment returns the segment with its posting lists, but without the data that only searches need. It is used
// to write the segment to a file. The builder must not be used afterwards.
func (b *builder) sortedSegment() *segment {
	s := b.segment
	l := newPostingListFiller(s)
	for number, items := range b.documentTerms {
		for _, it := range items {
			l.pushPosting(it.term, posting{docNumber: uint32(number), termFrequency: it.termFrequency})
		}
	}
	b.documentTerms = nil
	for n := range s.terms {
		if t := &s.terms[n]; t.hasPostingList {
			s.postingLists[t.listIndexOrDocNumber].list = l.postings[l.nextPosting[n]-t.docFrequency : l.nextPosting[n]]
		}
	}
	s.isAscending = true // FillEmptyIndex writes a segment to a file only if the documents' IDs ascend.
	return s
}
