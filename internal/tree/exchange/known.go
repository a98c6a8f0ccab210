// This file recognizes files that contain the records of a known program. It recognizes them by the first bytes of the
// file.

package exchange

import (
	"bufio"
	"bytes"
	"os"
	"slices"
)

// DetectRecordFormat returns the format of a JSON file that contains a known program's records, or entries. It returns
// "" for any other file, also if the file may be an agent's transcript or a chat service's export. It reads at most 64
// KiB.
func DetectRecordFormat(path string) Format {
	if checkJSONFile(path) != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	plain, err := decompressInput(bufio.NewReaderSize(f, peekSize), nil)
	if err != nil {
		return ""
	}
	// Ignore the error, because Peek also returns an error for a file that is shorter than peekSize.
	head, _ := plain.Peek(peekSize)
	h, ok := readJSONHead(bytes.TrimPrefix(head, []byte("\uFEFF")))
	if !ok {
		return ""
	}
	isField := func(key string) bool { return slices.Contains(entryFields, key) }
	switch f := detectDocumentFormat(h); f {
	case mem0, claudeMem, engram, serverMemory:
		return f
	case JSONL:
		if slices.IndexFunc(h.keys, func(key string) bool { return !isField(key) }) < 0 {
			return f
		}
	}
	return ""
}
