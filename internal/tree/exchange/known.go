// This file recognizes files with records, without reading them as a whole.

package exchange

import (
	"bufio"
	"bytes"
	"os"
	"slices"
)

// KnownRecords returns the format of a JSON file whose beginning shows that it has the records of a program, or
// entries. It returns "" for any other file, also if the file could be the transcript of an agent or the export of a
// chat service. It reads at most 64 KiB.
func KnownRecords(path string) Format {
	if checkJSONFile(path) != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	plain, err := decompress(bufio.NewReaderSize(f, peekSize), nil)
	if err != nil {
		return ""
	}
	head, _ := plain.Peek(peekSize) // a shorter file is returned with an error
	h, ok := readJSONHead(bytes.TrimPrefix(head, []byte("\uFEFF")))
	if !ok {
		return ""
	}
	isField := func(key string) bool { return slices.Contains(entryFields, key) }
	switch f := documentFormat(h); f {
	case mem0, claudeMem, engram, serverMemory:
		return f
	case JSONL:
		if slices.IndexFunc(h.keys, func(key string) bool { return !isField(key) }) < 0 {
			return f
		}
	}
	return ""
}
