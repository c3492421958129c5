package importer

// SONiCFields returns the fields of a table of a config_db.json that are used.
func SONiCFields(table string) string { return sonicLedger[table].used }
