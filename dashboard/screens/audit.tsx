// The screen `audit`.
export default function Screen() {
  return <h1>audit</h1>;
}
