// This file lists the formats and programs whose files can be imported.

package exchange

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/vfs"
)

// formatSource says how files in one format, or of one program, are recognized and read.
type formatSource struct {
	format    Format
	readItems func(r *bufio.Reader, ref string, o *ReadOptions) iter.Seq2[Item, error]

	// isFormatDocument reports whether a JSON document belongs to this format, by the keys at its beginning. It is nil
	// if the format is not JSON.
	isFormatDocument func(h jsonHead) bool

	// isFormatDir reports whether a directory with these file names belongs to the format. It is nil if each file
	// must be recognized separately.
	isFormatDir func(files []string) bool

	// findRoots returns the directories and files below dir from which items are imported. If it is nil, the whole
	// directory dir is imported.
	findRoots func(fsys vfs.FS, dir string) []string

	// checkFile decides whether a file in a directory is read. The result is nil if the file is read, a skippedError
	// if the file is skipped with a note, and errIgnoredFile if the file is skipped without a note. If checkFile is
	// nil, files with the extensions of Markdown and JSON lines are read. The path is relative to the root.
	checkFile func(file string) error
}

// supportedImportSources returns the import sources that oxbow supports: file formats, such as Markdown, and the data
// of other programs, such as Obsidian.
func supportedImportSources() []formatSource {
	return []formatSource{
		{format: Markdown, readItems: readMarkdownFrom},
		{format: JSONL, readItems: readExportedEntries, isFormatDocument: isEntriesDocument},
		{format: Chat, readItems: readChatFrom},
		{format: ChatDates, readItems: refuseDatesWithoutSessions},
		{format: crabtalkMemory, readItems: readCRMEMFrom},
		{format: Obsidian, readItems: readMarkdownFrom, isFormatDir: isObsidianDir},
		{
			format:           serverMemory,
			readItems:        readExportedEntries,
			isFormatDocument: isServerMemoryDocument,
			checkFile:        checkJSONFile,
		},
		{
			format:           ClaudeExport,
			readItems:        readClaudeExport,
			isFormatDocument: isClaudeExport,
			isFormatDir:      isClaudeExportDir,
			checkFile:        checkClaudeExportFile,
		},
		{
			format:      openClaw,
			readItems:   readOpenClaw,
			isFormatDir: isOpenClawDir,
			findRoots:   openClawRoots,
			checkFile:   checkOpenClawFile,
		},
		{
			format:      cursorRules,
			readItems:   readCursorRules,
			isFormatDir: hasCursorRuleFile,
			findRoots:   cursorRuleRoots,
			checkFile:   checkCursorRuleFile,
		},
		{format: openKnowledgeFormat, readItems: readConcept, checkFile: checkConceptFile},
		{format: basicMemory, readItems: readBasicMemoryNote},
		{format: csvTable, readItems: readCSV, checkFile: checkTableFile},
		{
			format:           mem0,
			readItems:        readMem0,
			isFormatDocument: isMem0,
			isFormatDir:      isOpenMemoryDir,
			checkFile:        checkMem0File,
		},
		{format: claudeMem, readItems: readClaudeMem, isFormatDocument: isClaudeMem, checkFile: checkJSONFile},
		{format: engram, readItems: readEngram, isFormatDocument: isEngram, checkFile: checkJSONFile},
	}
}

// findImportSource returns the source of a format. ok is false for a format without a source.
func findImportSource(f Format) (s formatSource, ok bool) {
	for _, s := range supportedImportSources() {
		if s.format == f {
			return s, true
		}
	}
	return formatSource{}, false
}

// FormatNames returns the names of the formats that a user can name, in alphabetical order.
func FormatNames() []string {
	var names []string
	for _, s := range supportedImportSources() {
		if s.format != crabtalkMemory {
			names = append(names, string(s.format))
		}
	}
	slices.Sort(names)
	return names
}

// detectDocumentFormat returns the format of a JSON document, or "" if no known program writes such documents.
func detectDocumentFormat(h jsonHead) Format {
	for _, s := range supportedImportSources() {
		if s.isFormatDocument != nil && s.isFormatDocument(h) {
			return s.format
		}
	}
	return ""
}

// detectDirFormat returns the format of a directory, or "" if each file in it must be recognized separately.
func detectDirFormat(fsys vfs.FS, dir string) Format {
	list, err := fsys.ReadDir(dir)
	if err != nil {
		return ""
	}
	files := fileNames(list)
	if slices.Contains(files, "index.md") {
		index, err := vfs.ReadFile(fsys, path.Join(dir, "index.md"), peekSize)
		if err == nil && (isBundleIndex(index) || isConceptBundle(fsys, dir)) {
			return openKnowledgeFormat
		}
	}
	for _, s := range supportedImportSources() {
		if s.isFormatDir != nil && s.isFormatDir(files) {
			return s.format
		}
	}
	return ""
}

func readMarkdownFrom(r *bufio.Reader, inputName string, o *ReadOptions) iter.Seq2[Item, error] {
	return ReadMarkdown(r, inputName, o)
}

func readChatFrom(r *bufio.Reader, inputName string, o *ReadOptions) iter.Seq2[Item, error] {
	return readChat(r, inputName, o)
}

func readCRMEMFrom(r *bufio.Reader, inputName string, _ *ReadOptions) iter.Seq2[Item, error] {
	return readCRMEM(r, inputName)
}

func refuseDatesWithoutSessions(_ *bufio.Reader, inputName string, _ *ReadOptions) iter.Seq2[Item, error] {
	return fatalErrorSeq(fmt.Errorf(
		"reading %s: holds dates of sessions, but no sessions; name the directory that holds both", inputName))
}

// isObsidianDir reports whether a directory is a vault of Obsidian. The argument files contains the names of the files
// in the directory.
func isObsidianDir(files []string) bool { return slices.Contains(files, ".obsidian") }

// isClaudeExportDir reports whether a directory with these names is an export of claude.ai.
func isClaudeExportDir(files []string) bool {
	return slices.Contains(files, "users.json") &&
		containsAny(files, "conversations.json", "projects.json", "projects",
			"memories.json")
}

// checkClaudeExportFile returns nil for the files of a Claude export that contain memories and projects. It returns
// errIgnoredFile for three kinds of files: conversations, which belong to the archive of sessions; users.json, which
// describes the account; and files that are not JSON, which are uploads to conversations. For any other file, it
// returns a [*skippedError], so that the user sees a message.
func checkClaudeExportFile(file string) error {
	isProject := strings.HasPrefix(file, "projects/") && path.Ext(file) == ".json"
	if isProject || slices.Contains([]string{"memories.json", "projects.json"}, file) {
		return nil
	}
	isConversations := strings.HasPrefix(file, "conversations")
	if isConversations || file == "users.json" || path.Ext(file) != ".json" {
		return errIgnoredFile
	}
	return &skippedError{"was passed over: oxbow does not know what Claude writes into this file"}
}

// hasPeekFailed reports whether a peek failed. A short input or a full buffer is not a failure.
func hasPeekFailed(err error) bool {
	return err != nil && err != io.EOF && err != bufio.ErrBufferFull
}

// isOpenMemoryDir reports whether a directory that contains these files is an unpacked backup of OpenMemory. The list
// files contains the names of the files.
func isOpenMemoryDir(files []string) bool {
	return containsAll(files, "memories.json", "memories.jsonl.gz")
}

// checkMem0File returns nil if the file has the extension of a JSON file. It returns errIgnoredFile for a file
// memories.json. A backup of OpenMemory contains this file and memories.jsonl.gz, which contains the same memories.
func checkMem0File(file string) error {
	if path.Base(file) == "memories.json" {
		return errIgnoredFile
	}
	return checkJSONFile(file)
}

// checkJSONFile returns nil if the file name is a name for a JSON file.
func checkJSONFile(file string) error {
	ext := path.Ext(strings.TrimSuffix(strings.ToLower(file), ".gz"))
	if slices.Contains([]string{".json", ".jsonl", ".ndjson"}, ext) {
		return nil
	}
	return &skippedError{"was passed over: its name ends in none of .json, .jsonl and .ndjson"}
}

// isEntriesDocument reports whether a JSON document has the keys of exported entries.
func isEntriesDocument(h jsonHead) bool { return containsAll(h.keys, "name", "content") }

// readExportedEntries yields the items in an export file. The file contains entries that oxbow exported, or the
// knowledge graph of the MCP memory server. It is either a JSON document or has one JSON object on each line.
func readExportedEntries(r *bufio.Reader, inputName string, _ *ReadOptions) iter.Seq2[Item, error] {
	if isDocumentStart(r) {
		return readObjects(
			documentObjects(r, inputName, documentListNames{recordListNames: []string{"entities", "relations"}}),
			inputName,
		)
	}
	return readJSONL(r, inputName)
}

// isDocumentStart reports whether the input is one JSON document, and not JSON lines (one object per line). The input
// is a document in these cases:
//   - It begins with an array.
//   - Its first line is only "{".
//   - Its first object has the key "relations".
//   - Its first object has the key "entities", and the value of this key is a list with an object.
func isDocumentStart(r *bufio.Reader) bool {
	head, err := r.Peek(peekSize)
	if hasPeekFailed(err) {
		return false // Ignore the error, because the function that reads the input after this reports it.
	}
	head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\uFEFF")))
	first, _, _ := bytes.Cut(head, []byte("\n"))
	h, ok := readJSONHead(head)
	return ok &&
		(h.isArray || isMultilineDocument(bytes.TrimSpace(first)) || h.elementKeysByListName["entities"] != nil ||
			slices.Contains(h.keys, "relations"))
}

// isServerMemoryDocument reports whether a JSON document has the keys of the MCP memory server's knowledge graph.
func isServerMemoryDocument(h jsonHead) bool {
	return containsAll(h.keys, "entities", "relations") || containsAll(h.keys, "type", "entityType") ||
		containsAll(h.keys, "type", "relationType")
}
