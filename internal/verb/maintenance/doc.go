// Package maintenance implements the verbs that maintain the files of a home: create, check,
// verify, diagnose, back up, recover, compact and erase.
package maintenance
