// This file implements the command named "imports". It measures how long it takes to import files from each program and
// in each format.

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// recordSize is the approximate size, in bytes, of the text of each record that the command "imports" generates.
const recordSize = 200

func importsCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	n := fl.Int("n", 100_000, "records of about 200 bytes in each file")
	only := fl.String("only", "", "formats whose names match `REGEXP`")
	var src textSource
	src.addTextFlag(fl)
	b.addDirFlag(fl)
	return b.withTempDir("imports", func(ctx context.Context, dir string) error {
		match, err := regexp.Compile(*only)
		if err != nil {
			return fmt.Errorf("--only: %w", err)
		}
		oxbow, err := buildOxbow(ctx, dir, "oxbow", "-trimpath", "-ldflags=-s -w")
		if err != nil {
			return err
		}
		entries, from, err := src.readEntries(ctx, *n/4+1)
		if err != nil {
			return err
		}
		run := recordImportRun{bench: b, oxbowPath: oxbow, dir: dir, recordCount: *n}
		for _, e := range entries {
			run.texts = append(run.texts, splitText(e.Content, recordSize)...)
		}
		b.printf("%s records of about %d bytes in each file, cut from %s.\n\n", formatCount(*n), recordSize, from)
		t := newTable("format", "size", "time", "processor", "records/s a core", "peak memory", "again")
		for _, f := range recordFormats() {
			if match.MatchString(f.name) {
				if err := run.measureFormat(ctx, t, f); err != nil {
					return err
				}
			}
		}
		b.emitTable(t)
		return nil
	})
}

// recordFormat is the format of a file with many records.
type recordFormat struct {
	name            string
	formatFlagValue string // argument of --from, or "" if the format is detected
	fileName        string // name of the file

	fileHead, recordSeparator, fileTail string
	formatRecord                        func(r sampleRecord) string

	// each record is written to a file of its own, and the field fileName contains only the file extension
	isDir bool
}

// sampleRecord is a record that is written to a sample file in each import format, so that the import can be measured.
type sampleRecord struct {
	number int
	text   string
	time   time.Time
}

func (r sampleRecord) entryName() string { return fmt.Sprintf("Record %d", r.number) }

// session returns the identifier of a conversation from which several records come.
func (r sampleRecord) session() string { return fmt.Sprintf("session-%d", r.number/20) }

// encodeJSON returns a value as JSON.
func encodeJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of strings and numbers can always be encoded
	}
	return string(b)
}

type jsonFields = map[string]any

// recordFormats returns the formats whose import is measured. Most formats store many records in one file. A format
// with isDir set stores each record in a file of its own.
func recordFormats() []recordFormat {
	return []recordFormat{
		{name: "jsonl", fileName: "entries.jsonl", recordSeparator: "\n", formatRecord: formatJSONEntry},
		{
			name:            "jsonl, an array",
			fileName:        "entries.json",
			fileHead:        "[\n",
			recordSeparator: ",\n",
			fileTail:        "\n]\n",
			formatRecord:    formatJSONEntry,
		},
		{
			name:            "csv",
			fileName:        "table.csv",
			fileHead:        "name,content,tags,created\n",
			recordSeparator: "\n",
			formatRecord:    formatCSVRow,
		},
		{name: "server-memory", fileName: "memory.jsonl", recordSeparator: "\n", formatRecord: formatEntity},
		{name: "server-memory, a document", fileName: "graph.json", fileHead: `{"entities":[`, recordSeparator: ",\n",
			fileTail: `],"relations":[]}`, formatRecord: formatEntity},
		{
			name:            "mem0",
			fileName:        "mem0.json",
			fileHead:        `{"results":[`,
			recordSeparator: ",",
			fileTail:        "]}",
			formatRecord:    formatMem0Record,
		},
		{
			name:            "claude-mem",
			fileName:        "claude-mem.json",
			recordSeparator: ",\n  ",
			fileTail:        `]}`,
			formatRecord:    formatObservation,
			fileHead:        `{"exportedAt":"2026-03-01T00:00:00Z","totalObservations":1,"observations":[`,
		},
		{
			name:            "engram",
			fileName:        "engram.json",
			recordSeparator: ",\n    ",
			fileTail:        `],"prompts":[]}`,
			formatRecord:    formatEngramRecord,
			fileHead:        `{"version":"0.1.0","exported_at":"2026-03-01 00:00:00","sessions":[],"observations":[`,
		},
		{name: "markdown, a file each", fileName: ".md", formatRecord: formatMarkdownRecord, isDir: true},
		{name: "basic-memory, a file each", fileName: ".md", formatRecord: formatBasicMemoryRecord, isDir: true},
		{name: "okf, a file each", formatFlagValue: "okf", fileName: ".md", formatRecord: formatOKFRecord, isDir: true},
	}
}

func formatJSONEntry(r sampleRecord) string {
	return encodeJSON(
		jsonFields{"name": r.entryName(), "content": r.text, "tags": []string{"bench"}, "created": r.time},
	)
}

func formatCSVRow(r sampleRecord) string {
	return fmt.Sprintf(
		"%s,\"%s\",bench,%s",
		r.entryName(),
		strings.ReplaceAll(r.text, `"`, `""`),
		r.time.Format(time.RFC3339),
	)
}

func formatEntity(r sampleRecord) string {
	return encodeJSON(
		jsonFields{"type": "entity", "name": r.entryName(), "entityType": "bench", "observations": []string{r.text}},
	)
}

func formatMem0Record(r sampleRecord) string {
	return encodeJSON(
		jsonFields{"id": fmt.Sprintf("00000000-0000-4000-8000-%012d", r.number), "memory": r.text, "user_id": "pat",
			"hash": fmt.Sprintf("%032x", r.number), "metadata": jsonFields{"category": "bench"}, "created_at": r.time,
			"updated_at": r.time},
	)
}

func formatObservation(r sampleRecord) string {
	return encodeJSON(
		jsonFields{"id": r.number, "memory_session_id": r.session(), "project": "harbor", "type": "discovery",
			"title": r.entryName(), "narrative": r.text, "facts": "[]", "concepts": `["bench"]`, "files_read": "[]",
			"files_modified": "[]", "prompt_number": 1, "created_at": r.time, "created_at_epoch": r.time.UnixMilli()},
	)
}

func formatEngramRecord(r sampleRecord) string {
	return encodeJSON(
		jsonFields{"id": r.number, "sync_id": fmt.Sprintf("obs-%016x", r.number), "session_id": r.session(),
			"type": "discovery", "title": r.entryName(), "content": r.text, "project": "harbor", "scope": "project",
			"revision_count": 1, "created_at": r.time.Format(time.DateTime), "updated_at": r.time.Format(time.DateTime)},
	)
}

func formatMarkdownRecord(r sampleRecord) string {
	return fmt.Sprintf(
		"---\ntags: [bench]\ncreated: %s\n---\n# %s\n\n%s\n",
		r.time.Format(time.RFC3339),
		r.entryName(),
		r.text,
	)
}

func formatBasicMemoryRecord(r sampleRecord) string {
	return fmt.Sprintf(
		"---\ntitle: %s\ntype: note\npermalink: notes/record-%d\n---\n\n%s\n",
		r.entryName(),
		r.number,
		r.text,
	)
}

func formatOKFRecord(r sampleRecord) string {
	return fmt.Sprintf(
		"---\ntype: note\ntitle: %s\ntimestamp: %s\n---\n\n%s\n",
		r.entryName(),
		r.time.Format(time.RFC3339),
		r.text,
	)
}

// recordImportRun measures imports of files in different formats. All files contain the same records.
type recordImportRun struct {
	*bench
	oxbowPath, dir string
	texts          []string
	recordCount    int
}

// measureFormat measures the import of a file in the format f. It imports the file into a new home (a directory with a
// memory), and then imports the same file a second time. It adds a row with the results to the table t. If an import
// fails or has an unexpected result, measureFormat returns an error. If both imports succeed, it deletes the file and
// the home.
func (r recordImportRun) measureFormat(ctx context.Context, t *markdownTable, f recordFormat) error {
	path := filepath.Join(r.dir, "input", f.fileName)
	if f.isDir {
		path = filepath.Dir(path)
	}
	home := filepath.Join(r.dir, "home")
	size, err := r.writeInputRecords(f)
	if err != nil {
		return fmt.Errorf("writing the records of %s: %w", f.name, err)
	}
	r.logf("importing %s", f.name)
	first, err := r.importOnce(ctx, home, f.formatFlagValue, path)
	if err != nil {
		return fmt.Errorf("importing %s: %w", f.name, err)
	}
	second, err := r.importOnce(ctx, home, f.formatFlagValue, path)
	if err != nil {
		return fmt.Errorf("importing %s again: %w", f.name, err)
	}
	if first.addedEntryCount != r.recordCount || second.unchangedEntryCount != r.recordCount {
		return fmt.Errorf(
			"the import of %s added %d of %d records, and the second found %d of them",
			f.name,
			first.addedEntryCount,
			r.recordCount,
			second.unchangedEntryCount,
		)
	}
	rate := fmt.Sprintf("%.0f", float64(r.recordCount)/first.cpu.Seconds())
	t.addRow(
		f.name,
		fmt.Sprintf("%.1f MB", float64(size)/1e6),
		formatDuration(first.elapsedTime),
		formatDuration(first.cpu),
		rate,
		formatPeakMemory(first.peakMemoryBytes),
		formatDuration(second.cpu),
	)
	return errors.Join(os.RemoveAll(filepath.Join(r.dir, "input")), os.RemoveAll(home))
}

// writeInputRecords writes r.recordCount records in the format f below r.dir, and returns the total size of the files
// in bytes.
func (r recordImportRun) writeInputRecords(f recordFormat) (size int64, err error) {
	dir := filepath.Join(r.dir, "input")
	if f.isDir {
		return r.writeFiles(dir, f)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	file, err := os.Create(filepath.Join(dir, f.fileName))
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriter(file)
	_, err = io.WriteString(w, f.fileHead)
	for num := 0; num < r.recordCount && err == nil; num++ {
		if num > 0 {
			_, err = io.WriteString(w, f.recordSeparator)
		}
		if err == nil {
			_, err = io.WriteString(w, f.formatRecord(r.recordAt(num)))
		}
	}
	if err == nil {
		_, err = io.WriteString(w, f.fileTail)
	}
	err = errors.Join(err, w.Flush())
	info, statErr := file.Stat()
	if statErr == nil {
		size = info.Size()
	}
	return size, errors.Join(err, statErr, file.Close())
}

// writeFiles writes a file for each record, a thousand in each directory.
func (r recordImportRun) writeFiles(dir string, f recordFormat) (size int64, err error) {
	for num := range r.recordCount {
		sub := filepath.Join(dir, fmt.Sprintf("part-%03d", num/1000))
		if num%1000 == 0 {
			if err := os.MkdirAll(sub, 0o700); err != nil {
				return 0, err
			}
		}
		text := f.formatRecord(r.recordAt(num))
		size += int64(len(text))
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("record-%d%s", num, f.fileName)), []byte(text), 0o600); err != nil {
			return 0, err
		}
	}
	return size, nil
}

// recordAt returns record number num of the data to import. All records have different texts, even if there are fewer
// sample texts than records.
func (r recordImportRun) recordAt(num int) sampleRecord {
	text := r.texts[num%len(r.texts)]
	if num >= len(r.texts) {
		text = fmt.Sprintf("%s (%d)", text, num/len(r.texts)+1)
	}
	return sampleRecord{number: num, text: text, time: time.Date(2026, 1, 1, 0, 0, num, 0, time.UTC)}
}

type importFileCost struct {
	elapsedTime, cpu                     time.Duration
	peakMemoryBytes                      int64 // bytes
	addedEntryCount, unchangedEntryCount int
}

// importOnce runs the command "oxbow import" to import the file or directory path into the home. If formatFlagValue is
// not empty, it is the value of the flag --from. importOnce returns the measured elapsed time, CPU time and peak
// memory, and the numbers of added and unchanged entries.
func (r recordImportRun) importOnce(
	ctx context.Context,
	home, formatFlagValue, path string,
) (c importFileCost, err error) {
	args := []string{"--home", home, "import", "--json", path}
	if formatFlagValue != "" {
		args = append(args, "--from", formatFlagValue)
	}
	p := exec.CommandContext(ctx, r.oxbowPath, args...)
	p.Env = minimalEnv(os.Getenv, r.dir)
	p.Stderr = os.Stderr
	begin := time.Now()
	out, err := p.Output()
	c.elapsedTime = time.Since(begin)
	if err != nil {
		return c, fmt.Errorf("oxbow import: %w", err)
	}
	c.cpu = p.ProcessState.UserTime() + p.ProcessState.SystemTime()
	c.peakMemoryBytes = peakMemoryBytes(p.ProcessState)
	var report struct{ Added, Same int }
	if err := json.Unmarshal(out, &report); err != nil {
		return c, err
	}
	c.addedEntryCount, c.unchangedEntryCount = report.Added, report.Same
	return c, nil
}
