/* The members of an array as people give them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "config/members.h"

static void right_texts(void **state)
{
    static const struct {
        const char *text, *indices;
        uint32_t most;
    } good[] = {{"1", "0", 0},
                {"10", "0-9", 0},
                {"1000000", "0-999999", 0},
                {"0-9", "0-9", 0},
                {"5-5", "5", 0},
                {"1-100%5", "1-100", 5},
                {"10%3", "0-9", 3},
                {"0-8:2,17", "0,2,4,6,8,17", 0},
                {"0-9:2,1-9:2", "0-9", 0},
                {"17,3", "3,17", 0},
                {"0-9:4", "0,4,8", 0},
                {"999999,0", "0,999999", 0},
                {"3,4,5%1000000", "3-5", 1000000}};
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        struct members m;
        struct strbuf text = {0};
        assert_int_equal(members_read(&m, good[i].text, strlen(good[i].text), NULL), 0);
        idset_encode(&m.indices, false, &text);
        assert_string_equal(strbuf_text(&text), good[i].indices);
        assert_int_equal(m.most, good[i].most);
        members_clear(&m);
        strbuf_clear(&text);
    }
}

static void wrong_texts(void **state)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "offset 0: expected a number of members such as 10, or their indices such as "
             "0-8:2,17, found the end"},
        {"0", "offset 0: expected from 1 to 1000000 members, found '0'"},
        {"1000001", "offset 0: expected from 1 to 1000000 members, found '1'"},
        {"0-1000000", "offset 2: expected an index from 0 to 999999, found '1'"},
        {"5-3", "offset 0: expected a range from a lower to a higher index, found '5'"},
        {"0-8:0", "offset 4: expected a step of 1 or more, found '0'"},
        {"0-8,3", "index 3 is given twice"},
        {"1-4,,7", "offset 4: expected an index from 0 to 999999, found ','"},
        {"1-4,", "offset 4: expected an index from 0 to 999999, found the end"},
        {"1-100%0", "offset 6: expected how many members at once, from 1 to 1000000, found '0'"},
        {"1-100%", "offset 6: expected how many members at once, from 1 to 1000000, found the end"},
        {"%5", "offset 0: expected a number of members such as 10, or their indices such as "
               "0-8:2,17, found '%'"},
        {"-1", "offset 0: expected an index from 0 to 999999, found '-'"},
        {"x", "offset 0: expected an index from 0 to 999999, found 'x'"},
        {"10 ", "offset 2: expected ',', '%' or the end, found ' '"},
        {"5%2%3", "offset 3: expected ',', '%' or the end, found '%'"}};
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct members m;
        berth_error_t err = {""};
        assert_int_equal(members_read(&m, bad[i].text, strlen(bad[i].text), &err), -1);
        assert_int_equal(errno, EINVAL);
        assert_string_equal(err.text, bad[i].why);
        assert_int_equal(m.indices.count, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(right_texts),
                                       cmocka_unit_test(wrong_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
