/*
 * Laws of congestion control as C functions, for the Python package of Millpond.
 *
 * A law is a `millpond_law` with tables of callbacks. docs/guest-laws.md shows how to load one, and examples/c-law has a
 * complete one.
 *
 * Units    Sizes are bytes on the wire, times are seconds of simulated time, rates are bit/s. A value that does not exist
 *          is NAN. INFINITY in a permit means "no limit" or "never".
 * State    Millpond allocates `state_bytes` for each sender, link and receiver, aligned to 16 bytes and filled with zeros,
 *          and frees it after the run without a callback.
 * Ownership  The tables must live as long as the process. Pointers to events are valid during the call only.
 * Threads  Callbacks with the same state are never called at the same time; callbacks with different states may be.
 * Errors   A callback returns 0, or a number that ends the run; `error_text` turns it into a message. Values without
 *          meaning in a permit (a window that is negative or NAN, a pacing rate of zero) end the run too.
 * Repeats  A law must depend on its arguments and its state alone. Runs with the same seed then repeat exactly.
 * Version  `version` is MILLPOND_VERSION and `struct_bytes` the size of the table that the law was compiled with. Another
 *          version is refused.
 *
 * A callback that is NULL is not called. The fields of each event are those of crates/law/src/event.rs.
 */
#ifndef MILLPOND_H
#define MILLPOND_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MILLPOND_VERSION 1u

/* Largest size of a header. */
#define MILLPOND_HEADER_BYTES 40u

/* Largest number of parameters. */
#define MILLPOND_PARAMETERS 32u

/* What every callback can read. */
typedef struct millpond_context {
    double now_s;                /* simulated time */
    double sample;               /* a random number from 0 to 1, another one in each call */
    double parameters[MILLPOND_PARAMETERS];  /* those of the law in the order of their declaration, in SI units; a flag
                                                as 0 or 1; a word as its position */
} millpond_context;

/* What a sender may send until the next event. It keeps its values from call to call. */
typedef struct millpond_permit {
    double window_bytes;         /* upper limit of the bytes in flight; INFINITY, the first value: none */
    double pace_bps;             /* upper limit of the sending rate; INFINITY, the first value: none */
    double quantum_bytes;        /* what a paced sender may send at once; 0, the first value: one packet */
    double feedback_within_s;    /* longest time between two packets of a sender that has data; INFINITY: none */
    double wake_s;               /* simulated time of the next on_timer, which resets it to INFINITY: never */
} millpond_permit;

/* A header in wire format. */
typedef struct millpond_header {
    uint64_t length;             /* number of bytes, at most MILLPOND_HEADER_BYTES; 0: no header of this law */
    uint8_t bytes[MILLPOND_HEADER_BYTES];
} millpond_header;

/* The start of a loop. */
typedef struct millpond_start {
    uint64_t packet_bytes;       /* a full packet */
    double capacity_bps;         /* least capacity of the path, if the law declares that it needs it; else NAN */
    double weight;
} millpond_start;

/* What had stopped a sender: `limited_by` of an acknowledgement. */
enum { MILLPOND_WINDOW, MILLPOND_PACE, MILLPOND_DATA, MILLPOND_CREDIT, MILLPOND_SILENCE };

/* An acknowledgement of new data. */
typedef struct millpond_ack {
    uint64_t bytes;                   /* newly acknowledged */
    uint64_t packets;
    double rtt_s;                     /* NAN if there is no sample */
    double min_rtt_s;
    double smoothed_rtt_s;            /* RFC 9002, section 5.3 */
    uint64_t in_flight_bytes;
    uint64_t prior_in_flight_bytes;
    uint64_t ce_packets;              /* newly acknowledged with a CE mark */
    uint64_t ce_bytes;
    uint64_t delivered_bytes;         /* so far */
    uint64_t prior_delivered_bytes;   /* when the newest acknowledged packet was sent */
    double delivery_rate_bps;         /* NAN if there is no sample, or the law does not declare that it needs samples */
    uint64_t round;                   /* round trips completed */
    uint64_t newly_lost_bytes;
    uint64_t lost_bytes;              /* so far */
    uint64_t app_limited;             /* 0 or 1 */
    uint64_t limited_by;
    uint64_t window_unused;           /* 1: the sender had less data or credit than it was allowed to send */
    millpond_header header;           /* the receiver's echo */
} millpond_ack;

/* The cause of a congestion event. */
enum { MILLPOND_LOSS, MILLPOND_TIMEOUT, MILLPOND_ECN, MILLPOND_NO_FEEDBACK };

/* A loss, a timeout, ECN marks or persistent congestion. */
typedef struct millpond_congestion {
    uint64_t cause;
    uint64_t is_new_episode;          /* 0 or 1 */
    uint64_t bytes;                   /* lost or marked */
    uint64_t in_flight_bytes;         /* without the lost packets */
    uint64_t prior_in_flight_bytes;
} millpond_congestion;

/* The law at a sender. */
typedef struct millpond_sender {
    uint32_t version;
    uint32_t struct_bytes;
    uint64_t state_bytes;
    int32_t (*on_start)(void *state, const millpond_context *, const millpond_start *, millpond_permit *);
    int32_t (*on_ack)(void *state, const millpond_context *, const millpond_ack *, millpond_permit *);
    int32_t (*on_congestion)(void *state, const millpond_context *, const millpond_congestion *, millpond_permit *);
    int32_t (*on_timer)(void *state, const millpond_context *, millpond_permit *);
    int32_t (*on_capacity)(void *state, const millpond_context *, double capacity_bps, millpond_permit *);
    /* Writes the header of a packet that is about to leave. */
    int32_t (*header)(void *state, const millpond_context *, millpond_header *);
} millpond_sender;

/* The ECN bits of a packet. */
enum { MILLPOND_NOT_ECT, MILLPOND_ECT1, MILLPOND_ECT0, MILLPOND_CE };

/* A packet at a link or at its receiver. A link may write the bytes of a header of its own law, not its length. */
typedef struct millpond_packet {
    uint64_t bytes;
    uint64_t is_data;                 /* 1: data; 0: an acknowledgement */
    uint64_t ecn;
    millpond_header header;
} millpond_packet;

/* The queue of a link. */
typedef struct millpond_queue {
    double capacity_bps;
    uint64_t bytes;
    uint64_t packets;
    double head_sojourn_s;
} millpond_queue;

/* What a link decides about a packet. */
enum { MILLPOND_KEEP, MILLPOND_MARK, MILLPOND_DROP };

/* The router of a law at one direction of one link. */
typedef struct millpond_link {
    uint32_t version;
    uint32_t struct_bytes;
    uint64_t state_bytes;
    int32_t (*on_arrival)(void *state, const millpond_context *, millpond_packet *, const millpond_queue *,
                          uint64_t *verdict);
    int32_t (*on_departure)(void *state, const millpond_context *, millpond_packet *, const millpond_queue *,
                            uint64_t *verdict);
    /* A control interval ended; first called at time zero. Writes the seconds until the next call; INFINITY: none. */
    int32_t (*on_tick)(void *state, const millpond_context *, const millpond_queue *, double *interval_s);
} millpond_link;

/* The feedback in the next acknowledgement. */
typedef struct millpond_echo {
    millpond_header header;           /* before the call: that of the packet */
    uint64_t mark;                    /* 1: the packet counts as CE-marked; before the call: 0 */
} millpond_echo;

/* The law at a receiver. */
typedef struct millpond_receiver {
    uint32_t version;
    uint32_t struct_bytes;
    uint64_t state_bytes;
    int32_t (*on_data)(void *state, const millpond_context *, const millpond_packet *, millpond_echo *);
} millpond_receiver;

/* A law. A shared library exports one with the name `millpond_law_table`. */
typedef struct millpond_law {
    uint32_t version;
    uint32_t struct_bytes;
    const millpond_sender *sender;
    const millpond_link *link;            /* NULL: no router */
    const millpond_receiver *receiver;    /* NULL: the header is echoed */
    const char *(*error_text)(int32_t code);   /* NULL: messages have the number alone */
} millpond_law;

#ifdef __cplusplus
}
#endif

#endif
