// This file lists the public data sets with questions, their files, and where to get the files.

package quality

import (
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
)

// QuestionSet is a public set of questions.
type QuestionSet struct {
	Name          string // name of the data set on the command line
	Title         string
	ExpectedFiles string // description of the files that the data set must consist of
	DownloadURL   string // address from which the data set's files can be downloaded
	Protocol      string // description of how the questions of this data set are asked and scored

	// returns groups of files in a directory. Each group is a copy or a part of the data set that is measured
	// separately.
	findFiles     func(fsys fs.FS, root, dir string) [][]string
	readTestCases func(*DataSetSource) iter.Seq2[TestCase, error]
}

// QuestionSets returns the public data sets with questions, in the order in which they are measured.
func QuestionSets() []*QuestionSet {
	return []*QuestionSet{
		{
			Name: "longmemeval", Title: "LongMemEval",
			ExpectedFiles: "longmemeval_s.json or longmemeval_s_cleaned.json",
			DownloadURL:   "https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned",
			Protocol: "Each question is asked of a fresh memory of its own haystack: one entry a session, \"user: " +
				"…\" and \"assistant: …\", or one a turn. " +
				"Right are the sessions that the set names, also for questions without an answer (_abs), or the " +
				"turns with evidence; questions without any are left out.",
			findFiles: func(fsys fs.FS, _, dir string) [][]string {
				found := findSingleFileSources(
					fsys,
					dir,
					"longmemeval_s_cleaned.json",
					"longmemeval_s.json",
					"longmemeval_s",
				)
				if split := findFiles(fsys, dir, "questions.jsonl", "sessions.jsonl"); split != nil {
					found = append(found, split)
				}
				return found
			},
			readTestCases: readLongMemEvalCases,
		},
		{
			Name: "locomo", Title: "LoCoMo",
			ExpectedFiles: "locomo10.json",
			DownloadURL:   "https://github.com/snap-research/locomo/blob/main/data/locomo10.json",
			Protocol: "The questions that name evidence, of categories 1 to 4 (5, the adversarial, in groups of its " +
				"own), each asked of a memory of its whole conversation: one entry a session, or one a turn, " +
				"\"Speaker: text\", without the captions of pictures where it does not say with. Right are the turns " +
				"of the evidence, or their sessions.",
			findFiles: func(fsys fs.FS, _, dir string) [][]string {
				var names []string
				// Ignore the error, because a directory that cannot be read contains no files.
				in, _ := fs.ReadDir(fsys, dir)
				for _, d := range in {
					n := strings.TrimSuffix(d.Name(), ".gz")
					isSet := strings.HasPrefix(n, "locomo") && strings.HasSuffix(n, ".json")
					if isSet && !slices.Contains(names, n) {
						names = append(names, n)
					}
				}
				return findSingleFileSources(fsys, dir, names...)
			},
			readTestCases: readLoCoMoCases,
		},
		{
			Name: "beam", Title: "BEAM",
			ExpectedFiles: "beam_100K.jsonl or another that begins so, a chat a line",
			DownloadURL:   "https://huggingface.co/datasets/Mohammadta/BEAM",
			Protocol: "The questions that name sources, each asked of a memory of its chat: one entry an exchange " +
				"(what the person wrote, and the answer), or one a message, \"user: …\" or \"assistant: …\", as old " +
				"as the last date before it. " +
				"Right are the messages that the set names, or their exchanges.",
			findFiles:     findBEAMFiles,
			readTestCases: readBEAMCases,
		},
		{
			Name: "qmsum", Title: "QMSum",
			ExpectedFiles: "train.jsonl, val.jsonl or test.jsonl in a directory with qmsum in its path",
			DownloadURL:   "https://github.com/Yale-LILY/QMSum/tree/main/data/ALL/jsonl",
			Protocol: "The specific queries that name stretches, each asked of a memory of its meeting, one entry a " +
				"turn, \"Speaker: text\". Right are all turns of the stretches, so that all@5 is out of reach for " +
				"most.",
			findFiles: func(fsys fs.FS, root, dir string) [][]string {
				if !pathHasWord(root, dir, "qmsum") {
					return nil
				}
				var all []string
				for _, f := range findSingleFileSources(fsys, dir, "train.jsonl", "val.jsonl", "test.jsonl") {
					all = append(all, f...)
				}
				if all == nil {
					return nil
				}
				return [][]string{all}
			},
			readTestCases: readQMSumCases,
		},
		{
			Name: "scifact", Title: "SciFact",
			ExpectedFiles: "corpus.jsonl, queries.jsonl and qrels/test.tsv in a directory with scifact in its path",
			DownloadURL:   "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/scifact.zip",
			Protocol: "BEIR's test queries, asked of one memory of all abstracts, title and text as one entry. Right " +
				"are the judged ones.",
			findFiles: func(fsys fs.FS, root, dir string) [][]string {
				if !pathHasWord(root, dir, "scifact") {
					return nil
				}
				var found [][]string
				for _, names := range [][]string{
					{"corpus.jsonl", "queries.jsonl", "qrels/test.tsv"},
					{"scifact.zip", "topics.beir-v1.0.0-scifact.test.tsv", "qrels.beir-v1.0.0-scifact.test.txt"},
				} {
					if f := findFiles(fsys, dir, names...); f != nil {
						found = append(found, f)
					}
				}
				return found
			},
			readTestCases: readSciFactCases,
		},
	}
}

// findSingleFileSources returns a list with one file for each of the names that exists in the directory. A file
// compressed with gzip also counts.
func findSingleFileSources(fsys fs.FS, dir string, names ...string) [][]string {
	var found [][]string
	for _, n := range names {
		if f := findFile(fsys, dir, n); f != "" {
			found = append(found, []string{f})
		}
	}
	return found
}

// pathHasWord reports whether the path of a directory contains a word, which must be in lower case. The path consists
// of root and of dir, which is relative to root. Letter case is ignored. Callers pass the name of a data set, because
// several data sets have files with the same name.
func pathHasWord(root, dir, word string) bool {
	return strings.Contains(strings.ToLower(path.Join(root, dir)), word)
}

// QuestionSetNames returns the names of the public data sets with questions.
func QuestionSetNames() []string {
	var names []string
	for _, s := range QuestionSets() {
		names = append(names, s.Name)
	}
	return names
}

// DataSetSource is a copy or a part of a data set whose files were found in a directory.
type DataSetSource struct {
	Set   *QuestionSet
	Files []string // paths of the data set's files, relative to the directory with all data sets

	fsys fs.FS
	// how often each kind of anomaly occurs in the data, by its description, in which %d stands for the number
	anomalyCounts map[string]int
}

// countDataAnomaly adds n to the count of an anomaly in the data. format is the text that describes the anomaly, with
// %d in place of the count.
func (s *DataSetSource) countDataAnomaly(format string, n int) {
	if n > 0 {
		if s.anomalyCounts == nil {
			s.anomalyCounts = map[string]int{}
		}
		s.anomalyCounts[format] += n
	}
}

// FindSources returns the copies and parts of the data set that it finds in fsys. The argument root is the path of the
// directory that fsys represents.
func (s *QuestionSet) FindSources(fsys fs.FS, root string) ([]*DataSetSource, error) {
	ds, err := findDirectories(fsys)
	if err != nil {
		return nil, fmt.Errorf("looking for %s: %w", s.Title, err)
	}
	var found []*DataSetSource
	for _, d := range ds {
		for _, files := range s.findFiles(fsys, root, d) {
			found = append(found, &DataSetSource{Set: s, Files: files, fsys: fsys})
		}
	}
	return found, nil
}

// FindSource returns the first source of the set with this name, or an error that describes the missing
// files.
func FindSource(fsys fs.FS, root, name string) (*DataSetSource, error) {
	for _, s := range QuestionSets() {
		if s.Name != name {
			continue
		}
		found, err := s.FindSources(fsys, root)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s is not in %s: it is %s, from %s", s.Title, root, s.ExpectedFiles, s.DownloadURL)
		}
		return found[0], nil
	}
	return nil, fmt.Errorf("there is no set %q; there are %s", name, strings.Join(QuestionSetNames(), ", "))
}

// Cases yields the memories to create, each with its questions. It reads them from the files of the data set. It may be
// called only once. If there is an error, the error is the last element.
func (s *DataSetSource) Cases() iter.Seq2[TestCase, error] {
	return func(yield func(TestCase, error) bool) {
		for c, err := range s.Set.readTestCases(s) {
			if d, ok := err.(*DataError); ok {
				d.URL = s.Set.DownloadURL
			}
			if !yield(c, err) {
				return
			}
		}
	}
}
