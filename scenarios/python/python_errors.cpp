#include "scenarios/python/python_errors.h"

#include <new>
#include <pybind11/pybind11.h>
#include <system_error>
#include <utility>

#include "scenarios/simulate/within_clock.h"
#include "scenarios/text/quote.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

namespace py = pybind11;

/// Raises an exception of podsim/_errors.py.
template <class Argument>
void raise(const char* name, const Argument& argument) {
    const py::object type = py::module_::import("podsim._errors").attr(name);
    const py::object error = type(argument);
    PyErr_SetObject(type.ptr(), error.ptr());
}

/// Bytes of a file's name need not be UTF-8.
py::object text(const std::string& bytes) {
    return py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
        bytes.data(), static_cast<py::ssize_t>(bytes.size()), "backslashreplace"));
}

py::object number(int value) {
    return value > 0 ? py::object(py::int_(value)) : py::object(py::none());
}

void raise_faults(const sim::InputError& error) {
    py::list faults;
    for (const sim::InputError& each : sim::errors_in(error)) {
        const sim::SourceMark& mark = each.mark();
        const std::string message =
            each.problem() + (each.remedy().empty() ? "" : "; " + each.remedy());
        faults.append(py::make_tuple(text(one_line(mark.file)), number(mark.line),
                                     number(mark.column), text(one_line(message))));
    }
    raise("ScenarioError", faults);
}

void translate(std::exception_ptr failure) {
    try {
        std::rethrow_exception(std::move(failure));
    } catch (const py::builtin_exception&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const sim::InputError& error) {
        raise_faults(error);
    } catch (const sim::TimeOverflow& error) {
        raise_faults(clock_error("", error));
    } catch (const std::system_error& error) {
        // A file that went away, or a thread that cannot be had.
        PyErr_SetObject(PyExc_OSError,
                        py::make_tuple(error.code().value(), text(error.what())).ptr());
    } catch (const std::exception& error) {
        raise("InternalError", text(error.what()));
    }
}

}  // namespace

void translate_errors() {
    py::register_local_exception_translator(&translate);
}

}  // namespace podsim::scenarios
