// This file reads tables of comma-separated values, such as a spreadsheet that was saved as CSV. The first line
// contains the names of the columns. Each further row becomes an entry. A column is treated like a front matter key
// with the column's name: columns such as tags and created have their usual meaning, and other columns become labels.

package exchange

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
)

// csvTextColumns lists the names of the columns whose texts become the content.
var csvTextColumns = []string{"content", "text", "note", "body", "memory"}

// csvRowForm says how a row becomes an item. If a row has an id, the item updates the entry that an earlier import made
// from a row with this id.
var csvRowForm = recordForm{
	format:                csvTable,
	idFields:              []string{"id"},
	textFields:            csvTextColumns,
	frontMatterKeyByField: map[string]string{},
}

// checkTableFile returns nil if the file's name ends in .csv or .tsv, and a skippedError otherwise. It checks the files
// of a directory if the user has asked for the import of tables from the directory.
func checkTableFile(file string) error {
	if isTableFile(file) {
		return nil
	}
	return &skippedError{"was passed over: its name ends in none of .csv and .tsv"}
}

// isTableFile reports whether a file name ends like the name of a table.
func isTableFile(name string) bool {
	switch path.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz")) {
	case ".csv", ".tsv":
		return true
	}
	return false
}

// csvSeparators lists the characters that may separate columns.
var csvSeparators = []rune{',', ';', '\t'}

// guessCSVSeparator returns the separator that occurs most often in the line with the column names.
func guessCSVSeparator(head string) rune {
	line, _, _ := strings.Cut(head, "\n")
	separator := csvSeparators[0]
	for _, c := range csvSeparators {
		if strings.Count(line, string(c)) > strings.Count(line, string(separator)) {
			separator = c
		}
	}
	return separator
}

// readCSV yields an item for each row of a table.
func readCSV(r *bufio.Reader, inputName string, o *ReadOptions) iter.Seq2[Item, error] {
	p := programExportFormat{format: csvTable, convert: func(row locatedJSONObject, o *ReadOptions) (Item, error) {
		if !slices.ContainsFunc(row.fields, isCSVTextField) {
			return Item{}, errors.New("has no text in the column of the content")
		}
		it, err := csvRowForm.toItem(row, o)
		// Another table may contain a record with the same id, so the origin of the item names the table's file.
		it.Origin = inputName
		return it, err
	}}
	return p.readRecords(csvRows(r, inputName), o)
}

// isCSVTextField reports whether a column contains a part of the content.
func isCSVTextField(f jsonField) bool { return slices.Contains(csvTextColumns, f.key) }

// csvRows yields the rows of a table. It leaves out empty cells. At a row that cannot be parsed, it yields an error
// and ends, because the start of the next row is unknown.
func csvRows(r *bufio.Reader, ref string) iter.Seq2[locatedJSONObject, error] {
	return func(yield func(locatedJSONObject, error) bool) {
		// Ignore the error. Peek returns an error for a file with fewer than peekSize bytes, and later reads report
		// other errors.
		head, _ := r.Peek(peekSize)
		if strings.HasPrefix(string(head), "\uFEFF") {
			_, _ = r.Discard(len("\uFEFF")) // The bytes were peeked, so discarding them cannot fail.
			head = head[len("\uFEFF"):]
		}
		t := csvReader{inputName: ref, limitedInput: &limitedReader{r: r, remaining: maxLineBytes}}
		t.rows = csv.NewReader(t.limitedInput)
		t.rows.Comma = guessCSVSeparator(string(head))
		t.rows.FieldsPerRecord = -1
		if err := t.readNames(); err != nil {
			yield(locatedJSONObject{}, csvReadError(ref, 1, err))
			return
		}
		for {
			o, err := t.readRow()
			if err == io.EOF || !yield(o, err) {
				return
			}
			if t.isDamaged {
				return
			}
		}
	}
}

// csvReader is the state of reading a table.
type csvReader struct {
	inputName    string
	limitedInput *limitedReader
	rows         *csv.Reader
	columnNames  []string // names of the columns
	isDamaged    bool     // The CSV file is damaged, so that it is unknown where the next row begins.
}

// readNames reads the names of the columns from the first line.
func (t *csvReader) readNames() error {
	names, err := t.rows.Read()
	if err == io.EOF {
		return errFileWithoutText
	}
	if err == nil {
		t.columnNames, err = csvColumns(names)
	}
	return err
}

// readRow returns the next row. After the last row, the error is io.EOF.
func (t *csvReader) readRow() (locatedJSONObject, error) {
	t.limitedInput.remaining = maxLineBytes
	row, err := t.rows.Read()
	if err == io.EOF {
		return locatedJSONObject{}, err
	}
	if err != nil {
		t.isDamaged = true
		return locatedJSONObject{}, csvReadError(t.inputName, 1, err)
	}
	line, _ := t.rows.FieldPos(0)
	o := locatedJSONObject{position: lineRef(t.inputName, line)}
	o.fields, err = csvFields(t.columnNames, row)
	return o, o.itemError(err)
}

// csvReadError returns the error for a table that cannot be read. The argument err is the error that occurred. If the
// table is invalid, the result is an item error with a line number. The line number comes from err if err is a
// [csv.ParseError], and from the argument line otherwise. The result for any other error, such as a read error, has no
// line number.
func csvReadError(ref string, line int, err error) error {
	parse, isParse := errors.AsType[*csv.ParseError](err)
	switch {
	case isParse:
		err = fmt.Errorf("is not CSV: %w; what comes before was read", parse.Err)
		return newItemError(lineRef(ref, parse.StartLine), err)
	case errors.Is(err, errFileWithoutText) || errors.Is(err, errRecordTooLong) || errors.Is(err, errNoTextColumn):
		return newItemError(lineRef(ref, line), err)
	}
	return fmt.Errorf("reading %s: %w", ref, err)
}

// limitedReader is a reader that returns an error when the bytes in the field remaining are used up. Without this
// limit, a missing quotation mark would make the rest of a file a single value.
type limitedReader struct {
	r         io.Reader
	remaining int
}

func (b *limitedReader) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		return 0, errRecordTooLong
	}
	n, err := b.r.Read(p)
	b.remaining -= n
	return n, err
}

// errNoTextColumn is returned if no column has a name in csvTextColumns.
var errNoTextColumn = errors.New("no column has the text of the entries")

// csvColumns returns the column names in the form of front matter keys. It returns an error that matches
// errNoTextColumn if no column has one of the names in csvTextColumns, such as content or text.
func csvColumns(names []string) (keys []string, err error) {
	for _, name := range names {
		keys = append(keys, frontmatter.FoldKeySpelling(strings.TrimSpace(name)))
	}
	if containsAny(keys, csvTextColumns...) {
		return keys, nil
	}
	if len(names) > 8 {
		names = append(slices.Clone(names[:8]), "…")
	}
	return nil, fmt.Errorf("%w: the first line must name the columns, one of them %s. It is %s. Put a line such as "+
		"name,content,tags above the rows", errNoTextColumn, strings.Join(csvTextColumns, ", "),
		truncateAndQuote(strings.Join(names, ", ")))
}

// csvFields returns the fields of a row as text. It skips blank values. A field whose column has no name is named after
// the number of the column, such as column_3. csvFields returns an error if the row has more values than names, if two
// values have the same column name, or if a value is not UTF-8.
func csvFields(names, row []string) (jsonObject, error) {
	var fields jsonObject
	for i, value := range row {
		switch {
		case strings.TrimSpace(value) == "":
			continue
		case i >= len(names):
			return nil, fmt.Errorf("has %d values, and the first line names %d columns", len(row), len(names))
		case !utf8.ValidString(value):
			return nil, errors.New("is not UTF-8; save the table as UTF-8")
		case fields.hasKey(names[i]):
			return nil, fmt.Errorf("column %s is given twice", truncateAndQuote(names[i]))
		}
		key := names[i]
		if key == "" {
			key = fmt.Sprintf("column_%d", i+1)
		}
		fields = append(fields, jsonField{key, quoteJSONText(value)})
	}
	return fields, nil
}
