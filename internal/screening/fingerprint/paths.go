// This file keeps who wrote which files.

package fingerprint

import "strings"

// Writer is the last known writer of a file.
type Writer int

// The writers of files.
const (
	unknown Writer = iota
	Agent
	Other // a program that wrote text that is not the agent's
)

// AddPaths records that files were written, either by the agent or by a program that wrote
// text of others.
func (f File) AddPaths(byAgent bool, paths ...string) error {
	if len(paths) == 0 {
		return nil
	}
	level := foreignPath
	if byAgent {
		level = ownPath
	}
	hashes := make([]uint64, len(paths))
	for i, p := range paths {
		hashes[i] = pathHash(p)
	}
	_, err := f.add(pathsFile, level, nil, hashes)
	return err
}

// pathHash returns the hash of a path.
func pathHash(path string) uint64 {
	h := uint64(hashBasis)
	for _, c := range []byte(strings.TrimSuffix(path, "/")) {
		h = (h ^ uint64(c)) * hashPrime
	}
	return finish(h * runFactor)
}

// Writers returns who wrote each file last. If that cannot be read, all are Other.
func (f File) Writers(paths []string) []Writer {
	writers := make([]Writer, len(paths))
	var numbers map[printHash][]int
	err := f.scan(pathsFile, func(key *cipherKey, h *head, _, prints []byte) error {
		if numbers == nil {
			numbers = make(map[printHash][]int, len(paths))
			for i, p := range paths {
				n := key.print(pathHash(p))
				numbers[n] = append(numbers[n], i)
			}
		}
		writer := Agent
		if h.level == foreignPath {
			writer = Other
		}
		for ; len(prints) >= printSize; prints = prints[printSize:] {
			for _, i := range numbers[printAt(prints)] {
				writers[i] = writer
			}
		}
		return nil
	})
	if err != nil {
		f.repair(pathsFile)
		for i := range writers {
			writers[i] = Other
		}
	}
	return writers
}
