// Package maintenance implements the verbs that create, check, verify, diagnose, back up, recover,
// compact and erase the files of a home.
package maintenance
