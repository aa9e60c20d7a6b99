/*
 * Unicode for the bytes of the servers' character sets, where neither ASCII nor iconv(3) gives
 * it.
 */
#ifndef SYNC_VALUE_CHARSET_TABLES_H
#define SYNC_VALUE_CHARSET_TABLES_H

#include <stdint.h>

/* Bytes 0x80 to 0xff of single-byte sets; 0 marks a byte without a character. */
extern const uint16_t charset_dec8[128];
extern const uint16_t charset_cp850[128];
extern const uint16_t charset_hp8[128];
extern const uint16_t charset_koi8r[128];
extern const uint16_t charset_latin1[128];
extern const uint16_t charset_latin2[128];
extern const uint16_t charset_hebrew[128];
extern const uint16_t charset_tis620[128];
extern const uint16_t charset_koi8u[128];
extern const uint16_t charset_greek[128];
extern const uint16_t charset_cp1250[128];
extern const uint16_t charset_latin5[128];
extern const uint16_t charset_armscii8[128];
extern const uint16_t charset_cp866[128];
extern const uint16_t charset_keybcs2[128];
extern const uint16_t charset_macce[128];
extern const uint16_t charset_macroman[128];
extern const uint16_t charset_cp852[128];
extern const uint16_t charset_latin7[128];
extern const uint16_t charset_cp1251[128];
extern const uint16_t charset_cp1256[128];
extern const uint16_t charset_cp1257[128];
extern const uint16_t charset_geostd8[128];

/* Bytes 0x00 to 0x7f of the one set that is not ASCII there. */
extern const uint16_t charset_swe7_low[128];

/* n codes from `code` on where a server and iconv differ; n 0 ends a list. */
struct charset_exception {
    uint32_t code;
    uint16_t unicode;
    uint16_t n;
};
extern const struct charset_exception charset_big5_exceptions[];
extern const struct charset_exception charset_sjis_exceptions[];
extern const struct charset_exception charset_ujis_exceptions[];
extern const struct charset_exception charset_gb18030_exceptions[];

#endif
