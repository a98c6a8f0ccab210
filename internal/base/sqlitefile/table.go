// This file reads the rows of tables.

package sqlitefile

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Table is a table of a database.
type Table struct {
	db          *DB
	rootPage    uint32
	columns     []string
	rowIDColumn int // index of the column that is the row ID, or -1
	// indexRoots contains the root page number for each index of the table. The key is the name of the index's first
	// column. Only indexes in ascending order are included.
	indexRoots map[string]uint32
}

// Row is a row of a table.
type Row struct {
	table        *Table
	columnValues []any
	rowID        int64
}

// schemaRow is a row in sqlite_schema, the system table of an SQLite database. Each row describes a table or an index
// of the database.
type schemaRow struct {
	objectType, name, table, sql string
	rootPage                     uint32
}

// readSchema returns the tables and indexes of the database.
func (db *DB) readSchema() (all []schemaRow, err error) {
	db.visitedPages = 0
	_, walkErr := db.eachTableCell(1, 0, func(c treeCell) bool {
		values, valueErr := db.decodeValues(c.record)
		if valueErr != nil || len(values) < 5 {
			err = valueErr
			return false
		}
		var r schemaRow
		r.objectType, _ = values[0].(string)
		r.name, _ = values[1].(string)
		r.table, _ = values[2].(string)
		root, _ := values[3].(int64)
		r.rootPage = uint32(root)
		r.sql, _ = values[4].(string)
		all = append(all, r)
		return true
	})
	return all, errors.Join(err, walkErr)
}

// Table returns the table with this name. It returns an error if the table does not exist or is not supported.
func (db *DB) Table(name string) (*Table, error) {
	all, err := db.readSchema()
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if r.objectType != "table" || !strings.EqualFold(r.name, name) {
			continue
		}
		parts, rest := splitTableDefinition(r.sql)
		if strings.Contains(strings.ToUpper(rest), "WITHOUT") {
			return nil, fmt.Errorf("%w: the table %s has no row IDs", errUnreadableFormat, name)
		}
		t := &Table{db: db, rootPage: r.rootPage, rowIDColumn: -1, indexRoots: map[string]uint32{}}
		unique := t.parseColumns(parts)
		for _, i := range all {
			if i.objectType != "index" || !strings.EqualFold(i.table, name) {
				continue
			}
			if column := indexedColumn(i, unique); column != "" && t.indexRoots[column] == 0 {
				t.indexRoots[column] = i.rootPage
			}
		}
		return t, nil
	}
	return nil, fmt.Errorf("%w: it has no table %s", errUnreadableFormat, name)
}

// HasTables reports whether the database contains all the named tables.
func (db *DB) HasTables(names ...string) bool {
	all, err := db.readSchema()
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		return !slices.ContainsFunc(all, func(r schemaRow) bool {
			return r.objectType == "table" && strings.EqualFold(r.name, name)
		})
	})
}

// parseColumns sets the table's columns and rowIDColumn from the parts of the table's definition. SQLite creates an
// index for each column or group of columns that is UNIQUE or PRIMARY KEY, and numbers these indexes in the order of
// the definition. parseColumns returns the first column of each of these indexes, in the same order. A column that is
// declared as INTEGER PRIMARY KEY is not in the result, because it has no index.
func (t *Table) parseColumns(definitionParts []string) (uniqueColumns []string) {
	for _, p := range definitionParts {
		words := strings.Fields(p)
		if len(words) == 0 {
			continue
		}
		upper := strings.ToUpper(strings.Join(words, " "))
		first, _, _ := strings.Cut(strings.ToUpper(words[0]), "(")
		switch first {
		case "CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN":
			if strings.Contains(upper, "PRIMARY KEY") || strings.Contains(upper, "UNIQUE") {
				inner, _ := splitTableDefinition(p)
				uniqueColumns = append(uniqueColumns, firstColumn(inner))
			}
			continue
		}
		name := unquoteName(words[0])
		t.columns = append(t.columns, name)
		isKey := strings.Contains(upper, "PRIMARY KEY")
		switch {
		case isKey && len(words) > 1 && strings.EqualFold(words[1], "INTEGER"):
			t.rowIDColumn = len(t.columns) - 1
		case isKey, strings.Contains(upper, "UNIQUE"):
			uniqueColumns = append(uniqueColumns, name)
		}
	}
	return uniqueColumns
}

// indexedColumn returns the first column of an index. It returns "" if the index cannot be used to look up texts, for
// example because its order is descending. The list uniqueColumns is the result of parseColumns. It is used for the
// indexes that SQLite created itself.
func indexedColumn(indexRow schemaRow, uniqueColumns []string) string {
	// SQLite created the index for a UNIQUE or PRIMARY KEY, and named it sqlite_autoindex_TABLE_NUMBER.
	if indexRow.sql == "" {
		n, err := strconv.Atoi(indexRow.name[strings.LastIndexByte(indexRow.name, '_')+1:])
		if err != nil {
			return ""
		}
		if n < 1 || n > len(uniqueColumns) {
			return ""
		}
		return uniqueColumns[n-1]
	}
	parts, rest := splitTableDefinition(indexRow.sql)
	upper := strings.ToUpper(strings.Join(parts, " ") + " ")
	isOther := strings.Contains(upper, " DESC ") || strings.Contains(upper, "COLLATE") || strings.Contains(upper, "(")
	if isOther || strings.TrimSpace(rest) != "" {
		return ""
	}
	return firstColumn(parts)
}

func firstColumn(definitionParts []string) string {
	if len(definitionParts) == 0 {
		return ""
	}
	words := strings.Fields(definitionParts[0])
	if len(words) == 0 {
		return ""
	}
	return unquoteName(words[0])
}

func unquoteName(s string) string { return strings.Trim(s, "\"'`[]") }

// splitTableDefinition splits a CREATE statement. parts are the comma-separated parts between the first parenthesis
// and the matching closing parenthesis, and optionsAfterColumns is the text after it. Comments are removed.
func splitTableDefinition(sql string) (parts []string, optionsAfterColumns string) {
	depth := 0
	var part strings.Builder
	for i := 0; i < len(sql); i++ {
		c := sql[i]
		switch {
		case strings.HasPrefix(sql[i:], "--"):
			length := strings.IndexByte(sql[i:], '\n')
			if length < 0 {
				return parts, ""
			}
			i += length
			continue
		// Skip quoted text: commas and parentheses in it do not separate columns.
		case strings.IndexByte("'\"`", c) >= 0:
			length := strings.IndexByte(sql[i+1:], c)
			if length < 0 {
				return parts, ""
			}
			if depth > 0 {
				part.WriteString(sql[i : i+length+2])
			}
			i += length + 1
		case c == '(':
			depth++
			if depth == 1 {
				continue
			}
		case c == ')':
			depth--
			if depth == 0 {
				return append(parts, part.String()), sql[i+1:]
			}
		case c == ',' && depth == 1:
			parts = append(parts, part.String())
			part.Reset()
			continue
		}
		if depth > 0 {
			part.WriteByte(c)
		}
	}
	return parts, ""
}

// decodeRow decodes a cell of the table as a row.
func (t *Table) decodeRow(c treeCell) (Row, error) {
	values, err := t.db.decodeValues(c.record)
	if t.rowIDColumn >= 0 && t.rowIDColumn < len(values) {
		values[t.rowIDColumn] = c.rowID
	}
	return Row{t, values, c.rowID}, err
}

// Rows yields all rows in the order of their row IDs. If reading fails, it yields the error and stops.
func (t *Table) Rows() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		t.db.visitedPages = 0
		_, err := t.db.eachTableCell(t.rootPage, 0, func(c treeCell) bool {
			row, err := t.decodeRow(c)
			return yield(row, err) && err == nil
		})
		if err != nil {
			yield(Row{}, err)
		}
	}
}

// RowsWithText returns the rows in which the column contains this text, in the order of their row IDs.
func (t *Table) RowsWithText(column, text string) ([]Row, error) {
	return t.rowsInSpan(column, textSpan{text, text + "\x00"})
}

// RowsWithPrefix returns the rows in which the column's text begins with prefix, in the order of their row IDs.
func (t *Table) RowsWithPrefix(column, prefix string) ([]Row, error) {
	return t.rowsInSpan(column, textSpan{prefix, prefix + "\xff"})
}

// rowsInSpan returns the rows in which the text of the column is in the span s. It uses an index if the table has one
// for this column.
func (t *Table) rowsInSpan(column string, s textSpan) (all []Row, err error) {
	root := t.indexRoots[column]
	if root == 0 {
		for row, err := range t.Rows() {
			if err != nil {
				return nil, err
			}
			if s.compare(row.value(column)) == 0 {
				all = append(all, row)
			}
		}
		return all, nil
	}
	t.db.visitedPages = 0
	err = t.db.eachIndexEntry(root, 0, s, func(id int64) error {
		c, found, err := t.db.findRow(t.rootPage, id)
		if err != nil || !found {
			return err
		}
		row, err := t.decodeRow(c)
		all = append(all, row)
		return err
	})
	slices.SortFunc(all, func(a, b Row) int { return int(max(min(a.rowID-b.rowID, 1), -1)) })
	return all, err
}

func (r Row) value(column string) any {
	i := slices.IndexFunc(r.table.columns, func(c string) bool { return strings.EqualFold(c, column) })
	if i < 0 || i >= len(r.columnValues) {
		return nil
	}
	return r.columnValues[i]
}

// Text returns the value of a column as text: a text or blob unchanged, and a number in decimal. It returns "" for a
// null value and for a column that does not exist.
func (r Row) Text(column string) string {
	switch v := r.value(column).(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// Number returns the value of a column as a number. It returns 0 if the value is not a number.
func (r Row) Number(column string) float64 {
	switch v := r.value(column).(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}
