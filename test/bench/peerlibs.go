//go:build !js && !wasip1

// This file contains search libraries with which oxbow is compared, because a Go programmer could choose them instead:
// bleve, bluge, and SQLite's FTS5 in Go.

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	bleveindex "github.com/blevesearch/bleve_index_api"
	"github.com/blugelabs/bluge"
	"github.com/blugelabs/bluge/analysis/analyzer"
)

func otherSearchMethods() []searchMethod {
	ps := []searchMethod{
		{name: "bleve", title: "bleve 2.5.7, BM25", build: buildBleve, open: openBleve},
		{name: "bluge", title: "bluge 0.2.2", build: buildBluge, open: openBluge},
		fts5SearchMethod("fts5", "SQLite FTS5 (modernc, Go)", "sqlite"),
	}
	return append(ps, cgoSearchMethods()...)
}

// All compared libraries are set up in the same way: they split texts into lower-case words of any length, keep stop
// words, do not stem, and store the text.

func buildBleve(ctx context.Context, dir string, texts []string, reportProgress func(int)) error {
	m := bleve.NewIndexMapping()
	m.ScoringModel = bleveindex.BM25Scoring
	m.StoreDynamic = false
	m.IndexDynamic = false
	m.DocValuesDynamic = false
	err := m.AddCustomAnalyzer(
		"plain",
		map[string]any{"type": custom.Name, "tokenizer": unicode.Name, "token_filters": []string{lowercase.Name}},
	)
	if err != nil {
		return err
	}
	f := bleve.NewTextFieldMapping()
	f.Analyzer = "plain"
	f.Store = true
	f.IncludeTermVectors = false
	f.IncludeInAll = false
	f.DocValues = false
	d := bleve.NewDocumentStaticMapping()
	d.AddFieldMappingsAt("text", f)
	m.DefaultMapping = d
	x, err := bleve.New(filepath.Join(dir, "bleve"), m)
	if err != nil {
		return err
	}
	err = eachBatch(ctx, texts, reportProgress, func(first int, some []string) error {
		b := x.NewBatch()
		for i, s := range some {
			if err := b.Index(strconv.Itoa(first+i), map[string]string{"text": s}); err != nil {
				return err
			}
		}
		return x.Batch(b)
	})
	return errors.Join(err, x.Close())
}

type bleveSearcher struct{ index bleve.Index }

func openBleve(dir string) (searcher, error) {
	x, err := bleve.Open(filepath.Join(dir, "bleve"))
	if err != nil {
		return nil, err
	}
	return &bleveSearcher{x}, nil
}

func (s *bleveSearcher) search(ctx context.Context, words string, limit int) ([]foundText, error) {
	q := bleve.NewMatchQuery(words) // matches texts with any of the words
	q.SetField("text")
	r, err := s.index.SearchInContext(ctx, bleve.NewSearchRequestOptions(q, limit, 0, false))
	if err != nil {
		return nil, err
	}
	fs := make([]foundText, len(r.Hits))
	for i, h := range r.Hits {
		n, err := strconv.Atoi(h.ID)
		if err != nil {
			return nil, err
		}
		fs[i] = foundText{n, h.Score}
	}
	return fs, nil
}

func (s *bleveSearcher) close() error { return s.index.Close() }

func buildBluge(ctx context.Context, dir string, texts []string, reportProgress func(int)) error {
	w, err := bluge.OpenWriter(bluge.DefaultConfig(filepath.Join(dir, "bluge")))
	if err != nil {
		return err
	}
	err = eachBatch(ctx, texts, reportProgress, func(first int, some []string) error {
		b := bluge.NewBatch()
		for i, s := range some {
			b.Insert(bluge.NewDocument(strconv.Itoa(first + i)).AddField(bluge.NewTextField("text", s).StoreValue()))
		}
		return w.Batch(b)
	})
	return errors.Join(err, w.Close())
}

type blugeSearcher struct{ reader *bluge.Reader }

func openBluge(dir string) (searcher, error) {
	r, err := bluge.OpenReader(bluge.DefaultConfig(filepath.Join(dir, "bluge")))
	if err != nil {
		return nil, err
	}
	return &blugeSearcher{r}, nil
}

func (s *blugeSearcher) search(ctx context.Context, words string, limit int) ([]foundText, error) {
	q := bluge.NewMatchQuery(words).SetField("text").SetAnalyzer(analyzer.NewStandardAnalyzer())
	it, err := s.reader.Search(ctx, bluge.NewTopNSearch(limit, q))
	if err != nil {
		return nil, err
	}
	var fs []foundText
	for {
		m, err := it.Next()
		if err != nil || m == nil {
			return fs, err
		}
		var bad error
		err = m.VisitStoredFields(func(field string, value []byte) bool {
			if field != "_id" {
				return true
			}
			n, err := strconv.Atoi(string(value))
			fs, bad = append(fs, foundText{n, m.Score}), err
			return false
		})
		if err := errors.Join(err, bad); err != nil {
			return nil, err
		}
	}
}

func (s *blugeSearcher) close() error { return s.reader.Close() }

// fts5SearchMethod returns SQLite's full-text search with this driver of database/sql.
func fts5SearchMethod(name, title, driver string) searchMethod {
	open := func(dir string) (*sql.DB, error) {
		u := url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(dir, name+".sqlite"))}
		return sql.Open(driver, u.String())
	}
	p := searchMethod{name: name, title: title}
	p.build = func(ctx context.Context, dir string, texts []string, done func(int)) error {
		db, err := open(dir)
		if err != nil {
			return err
		}
		db.SetMaxOpenConns(1)
		for _, s := range []string{
			"PRAGMA journal_mode=WAL",
			"PRAGMA synchronous=FULL",
			"CREATE VIRTUAL TABLE entry USING fts5(content)",
		} {
			if _, err := db.ExecContext(ctx, s); err != nil {
				return errors.Join(fmt.Errorf("%s: %w", s, err), db.Close())
			}
		}
		err = eachBatch(ctx, texts, done, func(first int, some []string) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			for i, s := range some {
				if _, err := tx.ExecContext(
					ctx,
					"INSERT INTO entry (rowid, content) VALUES (?, ?)",
					first+i+1,
					s,
				); err != nil {
					return errors.Join(err, tx.Rollback())
				}
			}
			return tx.Commit()
		})
		return errors.Join(err, db.Close())
	}
	p.open = func(dir string) (searcher, error) {
		db, err := open(dir)
		if err != nil {
			return nil, err
		}
		stmt, err := db.Prepare("SELECT rowid, -rank FROM entry WHERE entry MATCH ? ORDER BY rank LIMIT ?")
		if err != nil {
			return nil, errors.Join(err, db.Close())
		}
		return &fts5Searcher{db, stmt}, nil
	}
	return p
}

type fts5Searcher struct {
	db   *sql.DB
	stmt *sql.Stmt
}

func (s *fts5Searcher) search(ctx context.Context, words string, limit int) (hits []foundText, err error) {
	terms := splitLowercaseWords(words)
	if len(terms) == 0 {
		return nil, nil
	}
	rows, err := s.stmt.QueryContext(ctx, `"`+strings.Join(terms, `" OR "`)+`"`, limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var f foundText
		if err := rows.Scan(&f.textNumber, &f.score); err != nil {
			return nil, err
		}
		f.textNumber--
		hits = append(hits, f)
	}
	return hits, rows.Err()
}

func (s *fts5Searcher) close() error { return errors.Join(s.stmt.Close(), s.db.Close()) }
