// This file checks the index file's checksums, its entry list, and a sample of the indexed
// words.

package oxbow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/ctxfile"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
)

// maxCheckedEntries is the maximum number of entries whose words a check compares with the index
// file. In larger stores, it compares evenly spaced entries.
const maxCheckedEntries = 2000

// checkIndexFile returns the problems of the index file. An index file that is missing, or
// that has a different history, format or ranking, is not a problem, because queries
// ignore it.
func checkIndexFile(ctx context.Context, file logstore.CheckedFile) ([]Problem, error) {
	bad := func(format string, args ...any) []Problem {
		return []Problem{{Offset: -1, What: "the index file " + file.Path() + fmt.Sprintf(format, args...),
			Mend: "nothing is lost, and the next recall makes it again: rm " + text.ShellQuote(file.Path())}}
	}
	f, err := file.Open()
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return nil, err
	}
	defer f.Close()
	head, size, err := readIndexFileHeader(f)
	if errors.Is(err, errIndexDamage) {
		return bad(": %v", err), nil
	}
	if err != nil || checkRanking(head.rankingName) != nil {
		return nil, nil
	}
	head.position, err = file.RefreshPosition(head.position)
	if err != nil {
		return nil, nil
	}
	rows, err := head.openRows(f)
	if err == nil {
		_, err = rows.forEach(func(_, _ uint64) bool { return true })
	}
	if err != nil {
		return bad(": %v", err), nil
	}
	x, err := index.OpenSnapshot(
		io.NewSectionReader(ctxfile.File{Context: ctx, InnerFile: f}, head.snapshotOffset(), size),
		size,
		ranking.BM25Params(head.rankingName),
	)
	if err == nil {
		err = x.Searcher().CheckSnapshot()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return bad(": %v", err), nil
	}
	state, err := file.StateAt(head.position)
	if err != nil {
		return nil, err
	}
	what, err := compareIndexFile(ctx, head, rows, x.Searcher(), state)
	if what != "" {
		return bad(" %s", what), err
	}
	return nil, err
}

// compareIndexFile compares an index file with the entries as they were when the file was written, that is, after
// change head.position.Seq. It compares all entries' IDs and versions, but the indexed words of at most
// maxCheckedEntries entries. It returns a text about the first difference, or "" if it finds no difference.
func compareIndexFile(
	ctx context.Context,
	head indexFileHeader,
	rows entryRows,
	x *index.Searcher,
	state logstore.StateAfterChange,
) (difference string, err error) {
	if state.Len() != rows.Len() || state.NextID() != head.nextID {
		return fmt.Sprintf(
			"lists %d entries of change %d, which left %d",
			rows.Len(),
			head.position.Seq,
			state.Len(),
		), nil
	}
	sample := indexSample{searcher: x}
	r := ranking.NewScorer(head.rankingName, nil)
	step := max(1, (state.Len()+maxCheckedEntries-1)/maxCheckedEntries)
	var doc index.Document
	var buf ranking.AnalysisBuffer
	i := 0
	for v := range state.Versions() {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		isListed := rows.id(i) == v.ID && rows.version(i) == v.Version
		isSampled := i%step == 0
		i++
		if isListed && !isSampled {
			continue
		}
		e, err := state.ReadEntry(v.ID)
		if err != nil {
			return "", err
		}
		if !isListed {
			what, err := sample.compare()
			return cmp.Or(what, fmt.Sprintf("has another version of entry %q than change %d left",
				e.Name, head.position.Seq)), err
		}
		r.AnalyzeItem(ctx, newRankedEntryItem(e), &doc, &buf)
		what, err := sample.addDocument(e, &doc)
		if what != "" || err != nil {
			return what, err
		}
	}
	return sample.compare()
}

// maxSampleTerms limits the size of a document sample. If the documents of a sample have at least this many terms and
// pairs of words, they are compared with the index, and a new sample begins.
const maxSampleTerms = 1 << 16

// indexSample contains documents that are all compared with an index in one pass, so that each posting list is read
// only once.
type indexSample struct {
	searcher  *index.Searcher
	documents []index.ExpectedDocument
	names     []string // name of each document's entry
	termCount int
}

// addDocument adds the document of an entry to the sample. If the sample then contains at least maxSampleTerms terms
// and pairs, addDocument compares the sample with the index and returns the result of the method compare. Otherwise it
// returns "".
func (s *indexSample) addDocument(e *Entry, doc *index.Document) (difference string, err error) {
	d := index.ExpectedDocument{ID: e.ID, Length: doc.WeightedLength, Frequencies: map[string]int{}}
	d.PairHashes = slices.Clone(doc.PairHashes)
	for _, t := range doc.Terms {
		if t.Frequency > 0 {
			d.Frequencies[strings.Clone(t.Text)] += int(t.Frequency)
		}
	}
	s.documents = append(s.documents, d)
	s.names = append(s.names, e.Name)
	s.termCount += len(d.Frequencies) + len(d.PairHashes)
	if s.termCount < maxSampleTerms {
		return "", nil
	}
	return s.compare()
}

// compare compares the documents of the sample with the index, and then empties the sample. It returns a text about the
// first document that differs, or "" if all documents are equal.
func (s *indexSample) compare() (difference string, err error) {
	i, err := s.searcher.FindSnapshotMismatch(s.documents)
	if err == nil && i < len(s.documents) {
		difference = fmt.Sprintf("has other words for entry %q than it holds", s.names[i])
	}
	*s = indexSample{searcher: s.searcher}
	return difference, err
}

// indexFilePosition returns the number of the last change that the index file contains. It returns false if the file
// cannot be opened or its header is invalid. It also returns false if the file was written for a ranking that this
// version of oxbow does not have, or if the file's position does not match the log. Queries ignore a file for which
// indexFilePosition returns false.
func indexFilePosition(file logstore.CheckedFile) (seq uint64, ok bool) {
	f, err := file.Open()
	if err != nil {
		return 0, false
	}
	defer f.Close()
	head, _, err := readIndexFileHeader(f)
	if err != nil || checkRanking(head.rankingName) != nil {
		return 0, false
	}
	position, err := file.RefreshPosition(head.position)
	return position.Seq, err == nil
}
