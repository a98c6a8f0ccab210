// This file adds the method Rewrite to Log. Tests use Rewrite to replace a log by a log with other records.

package wal

// Rewrite replaces the log by a new log, which begins after the change with the number base. The parameter chain is the
// chain hash of this change. The function fill calls the function emit for each record of the new log. If Rewrite
// fails, the old log stays in use, unless it had already been replaced.
func (l *Log) Rewrite(base uint64, chain [32]byte, fill func(emit func(r Record) error) error) error {
	w, err := l.NewRewriter(base, chain)
	if err != nil {
		return err
	}
	last := l.lastSeq
	err = fill(func(r Record) error {
		r.DurableSeq = last
		_, err := w.AppendRecord(r)
		return err
	})
	if err == nil {
		err = l.ReplaceBy(w)
	}
	if err != nil && l.file != w.file {
		w.Cancel()
	}
	return err
}
